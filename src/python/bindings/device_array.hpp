#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string_view>

#include "gil.hpp"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

// Arrays in device memory. Not by DLPack: its producers may make streams wait, which neither
// products nor CUDA graphs may be made to.

namespace blockspan::python {

namespace nb = nanobind;

/// An array of up to two dimensions in the memory of a device, as the package describes it: a tuple
/// (owner, address, shape, strides, bytes of a unit of strides, type in NumPy's words, device). The
/// owner is kept alive.
class DeviceArray {
 public:
  std::size_t ndim() const { return ndim_; }
  std::size_t shape(std::size_t d) const { return static_cast<std::size_t>(shape_[d]); }
  std::int64_t stride(std::size_t d) const { return strides_[d]; }  ///< in elements
  nb::dlpack::dtype dtype() const { return type_; }
  void* data() const { return data_; }
  int device() const { return device_; }

  /// False, and an exception of Python may be set, where it is no such tuple.
  bool read(nb::handle description) {
    if (!PyTuple_Check(description.ptr()) || PyTuple_GET_SIZE(description.ptr()) != 7) return false;
    auto const item = [&](Py_ssize_t i) { return PyTuple_GET_ITEM(description.ptr(), i); };
    owner_ = {Py_NewRef(item(0)), Release()};
    data_ = PyLong_AsVoidPtr(item(1));
    device_ = static_cast<int>(PyLong_AsLong(item(6)));
    return read_type(item(5)) && read_shape(item(2), item(3), PyLong_AsLongLong(item(4)));
  }

 private:
  struct Release {
    void operator()(PyObject* owner) const {
      WithGil const with_gil;  // whoever drops it last may be without
      Py_DECREF(owner);
    }
  };

  bool read_type(PyObject* name) {
    Py_ssize_t length = 0;
    char const* const text = PyUnicode_AsUTF8AndSize(name, &length);
    if (text == nullptr) return false;
    std::string_view const words(text, static_cast<std::size_t>(length));
    std::size_t const digits = words.find_first_of("0123456789");
    if (digits == std::string_view::npos) return false;
    using Code = nb::dlpack::dtype_code;
    auto const kind = words.substr(0, digits);
    Code const code = kind == "float"     ? Code::Float
                      : kind == "complex" ? Code::Complex
                      : kind == "int"     ? Code::Int
                      : kind == "uint"    ? Code::UInt
                                          : Code::Bfloat;
    int bits = 0;
    std::from_chars(text + digits, text + length, bits);
    type_ = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
    return bits > 0;
  }

  bool read_shape(PyObject* shape, PyObject* strides, long long unit) {
    if (!PyTuple_Check(shape) || !PyTuple_Check(strides)) return false;
    ndim_ = static_cast<std::size_t>(PyTuple_GET_SIZE(shape));
    if (ndim_ > shape_.size() || PyTuple_GET_SIZE(strides) != PyTuple_GET_SIZE(shape)) return false;
    for (std::size_t d = 0; d < ndim_; ++d) {
      auto const place = static_cast<Py_ssize_t>(d);
      shape_[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, place));
      strides_[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(strides, place)) * unit / (type_.bits / 8);
    }
    return PyErr_Occurred() == nullptr;
  }

  std::shared_ptr<PyObject> owner_;
  void* data_ = nullptr;
  std::array<std::int64_t, 2> shape_{}, strides_{};
  nb::dlpack::dtype type_{};
  std::size_t ndim_ = 0;
  int device_ = 0;
};

}  // namespace blockspan::python

template <>
struct nanobind::detail::type_caster<blockspan::python::DeviceArray> {
  NB_TYPE_CASTER(blockspan::python::DeviceArray, const_name("tuple"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    bool const good = value.read(source);
    if (!good) PyErr_Clear();
    return good;
  }
};
