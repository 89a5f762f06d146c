#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>

#include "gil.hpp"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

// The arrays of a call, as arguments of bound functions.

namespace blockspan::python {

namespace nb = nanobind;

/// Keeps an object alive; whoever drops it last may be without the GIL.
using Owner = std::shared_ptr<PyObject>;
inline Owner keep(nb::handle object) {
  return {object.inc_ref().ptr(), [](PyObject* dropped) {
            WithGil const with_gil;
            Py_DECREF(dropped);
          }};
}

/// An array of up to two dimensions that belongs to somebody else: valid during the call, and as
/// long as its owner is kept.
class ArrayView {
 public:
  std::size_t ndim() const { return ndim_; }
  std::size_t shape(std::size_t d) const { return static_cast<std::size_t>(shape_[d]); }
  std::int64_t stride(std::size_t d) const { return strides_[d]; }  ///< in elements
  nb::dlpack::dtype dtype() const { return type_; }
  void* data() const { return data_; }
  nb::handle owner() const { return owner_; }

 protected:
  using Code = nb::dlpack::dtype_code;

  void set_type(Code code, std::int64_t bits) {
    type_ = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  }

  nb::handle owner_;
  void* data_ = nullptr;
  std::array<std::int64_t, 2> shape_{}, strides_{};
  nb::dlpack::dtype type_{};
  std::size_t ndim_ = 0;
};

/// One in host memory, by the buffer protocol, which takes less time than DLPack does.
class HostArray : public ArrayView {
 public:
  static constexpr auto python_name = nb::detail::const_name("numpy.typing.NDArray[typing.Any]");

  /// False, and an exception of Python may be set, where it has none, or one of more dimensions, of
  /// numbers of other machines, or not aligned.
  bool read(nb::handle array, int flags = 0) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT | flags) != 0)
      return false;
    bool good = buffer.ndim <= 2 && read_type(buffer.format, buffer.itemsize);
    if (good) {
      owner_ = array;  // it keeps the memory without the buffer, as arrays of NumPy do
      data_ = buffer.buf;
      ndim_ = static_cast<std::size_t>(buffer.ndim);
      for (std::size_t d = 0; d < ndim_; ++d) {
        shape_[d] = buffer.shape[d];
        strides_[d] = buffer.strides[d] / buffer.itemsize;
        good = good && strides_[d] * buffer.itemsize == buffer.strides[d];
      }
    }
    PyBuffer_Release(&buffer);
    return good;
  }

 private:
  bool read_type(std::string_view format, std::int64_t bytes) {
    bool const complex = format.starts_with('Z');
    if (format.size() != (complex ? 2 : 1)) return false;
    char const letter = format.back();
    auto const is_one_of = [&](std::string_view letters) {
      return letters.find(letter) != letters.npos;
    };
    if (is_one_of("efdg"))
      set_type(complex ? Code::Complex : Code::Float, 8 * bytes);
    else if (is_one_of("bhilqn"))
      set_type(Code::Int, 8 * bytes);
    else if (is_one_of("BHILQN"))
      set_type(Code::UInt, 8 * bytes);
    else
      return false;
    return true;
  }
};

/// The same, to be written.
class WritableHostArray : public HostArray {
 public:
  bool read(nb::handle array) { return HostArray::read(array, PyBUF_WRITABLE); }
};

/// One in the memory of a device, as the package describes it: a tuple (owner, address, shape,
/// strides, bytes of a unit of strides, type in NumPy's words, device). Not by DLPack: its
/// producers may make streams wait, which neither products nor CUDA graphs may be made to.
class DeviceArray : public ArrayView {
 public:
  static constexpr auto python_name = nb::detail::const_name("tuple[typing.Any, ...]");

  int device() const { return device_; }

  /// False, and an exception of Python may be set, where it is no such tuple.
  bool read(nb::handle description) {
    if (!PyTuple_Check(description.ptr()) || PyTuple_Size(description.ptr()) != 7) return false;
    auto const item = [&](Py_ssize_t i) { return PyTuple_GetItem(description.ptr(), i); };
    owner_ = item(0);
    data_ = PyLong_AsVoidPtr(item(1));
    device_ = static_cast<int>(PyLong_AsLong(item(6)));
    return read_type(item(5)) && read_shape(item(2), item(3), PyLong_AsLongLong(item(4)));
  }

 private:
  bool read_type(PyObject* name) {
    Py_ssize_t length = 0;
    char const* const text = PyUnicode_AsUTF8AndSize(name, &length);
    if (text == nullptr) return false;
    std::string_view const words(text, static_cast<std::size_t>(length));
    std::size_t const digits = words.find_first_of("0123456789");
    if (digits == std::string_view::npos) return false;
    auto const kind = words.substr(0, digits);
    Code const code = kind == "float"     ? Code::Float
                      : kind == "complex" ? Code::Complex
                      : kind == "int"     ? Code::Int
                      : kind == "uint"    ? Code::UInt
                                          : Code::Bfloat;
    int bits = 0;
    std::from_chars(text + digits, text + length, bits);
    set_type(code, bits);
    return bits > 0;
  }

  bool read_shape(PyObject* shape, PyObject* strides, long long unit) {
    if (!PyTuple_Check(shape) || !PyTuple_Check(strides)) return false;
    ndim_ = static_cast<std::size_t>(PyTuple_Size(shape));
    if (ndim_ > shape_.size() || PyTuple_Size(strides) != PyTuple_Size(shape)) return false;
    for (std::size_t d = 0; d < ndim_; ++d) {
      auto const place = static_cast<Py_ssize_t>(d);
      shape_[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, place));
      strides_[d] = PyLong_AsLongLong(PyTuple_GetItem(strides, place)) * unit / (type_.bits / 8);
    }
    return PyErr_Occurred() == nullptr;
  }

  int device_ = 0;
};

}  // namespace blockspan::python

template <class Array>
requires std::derived_from<Array, blockspan::python::ArrayView>
struct nanobind::detail::type_caster<Array> {
  NB_TYPE_CASTER(Array, Array::python_name)

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    bool const good = value.read(source);
    if (!good) PyErr_Clear();
    return good;
  }
};
