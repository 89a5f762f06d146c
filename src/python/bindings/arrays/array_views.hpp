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

/// A reference to a Python object. The last one may be released without the GIL.
using Owner = std::shared_ptr<PyObject>;
inline Owner keep(nb::handle object) {
  return {object.inc_ref().ptr(), [](PyObject* dropped) {
            WithGil const with_gil;
            Py_DECREF(dropped);
          }};
}

/// A view of an array of up to two dimensions: valid during the call, and as long as the owner is
/// kept alive.
class ArrayView {
 public:
  std::size_t ndim() const { return ndim_; }
  std::size_t shape(std::size_t d) const { return static_cast<std::size_t>(shape_[d]); }
  std::int64_t stride(std::size_t d) const { return strides_[d]; }  ///< in elements
  nb::dlpack::dtype dtype() const { return type_; }
  void* data() const { return data_; }
  nb::handle owner() const { return owner_; }

  /// A vector becomes a block of one column.
  void take_as_column() {
    if (ndim_ != 1) return;
    ndim_ = 2;
    shape_[1] = strides_[1] = 1;
  }

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

/// The exchange table of PyTorch's tensors (DLPack 1.3): one C call describes a tensor, without a
/// copy, a synchronization or ownership.
struct TensorExchange {
  struct {
    std::uint32_t major, minor;
  } version;
  void* previous;
  void* functions_that_own[3];
  int (*describe)(PyObject* tensor, nb::dlpack::dltensor* result);
  void* current_stream;

  /// The table of the type; null if it has none. The last type looked up is cached.
  static TensorExchange const* of(PyTypeObject* type, bool known_only) {
    static PyTypeObject* known = nullptr;
    static TensorExchange const* exchange = nullptr;
    if (type == known || known_only) return type == known ? exchange : nullptr;
    auto const capsule = nb::steal<nb::object>(
        PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"));
    if (!capsule.is_valid()) return nullptr;
    auto const* const found = static_cast<TensorExchange const*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (found == nullptr || found->version.major != 1 || found->describe == nullptr) return nullptr;
    exchange = found;
    known = reinterpret_cast<PyTypeObject*>(Py_NewRef(reinterpret_cast<PyObject*>(type)));
    return exchange;
  }
};

/// An array in host memory, by the buffer protocol, which is faster than DLPack, or a tensor.
class HostArray : public ArrayView {
 public:
  static constexpr auto python_name = nb::detail::const_name("numpy.typing.NDArray[typing.Any]");

  /// False, possibly with a Python exception set, if it is neither, or has more dimensions, another
  /// byte order or unaligned elements. The caller has excluded tensors that require a gradient or
  /// have the conjugate bit set.
  bool read(nb::handle array, int flags = 0) {
    owner_ = array;
    auto* const type = Py_TYPE(array.ptr());
    if (auto const* const exchange = TensorExchange::of(type, true))
      return read_tensor(array, *exchange);
    Py_buffer buffer;
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT | flags) == 0) {
      bool const good = read_buffer(buffer);
      PyBuffer_Release(&buffer);  // an array of NumPy keeps its memory without it
      return good;
    }
    PyErr_Clear();
    auto const* const exchange = TensorExchange::of(type, false);
    return exchange != nullptr && read_tensor(array, *exchange);
  }

 private:
  bool read_buffer(Py_buffer const& buffer) {
    if (buffer.ndim > 2 || !read_type(buffer.format, buffer.itemsize)) return false;
    data_ = buffer.buf;
    ndim_ = static_cast<std::size_t>(buffer.ndim);
    bool good = true;
    for (std::size_t d = 0; d < ndim_; ++d) {
      shape_[d] = buffer.shape[d];
      strides_[d] = buffer.strides[d] / buffer.itemsize;
      good = good && strides_[d] * buffer.itemsize == buffer.strides[d];
    }
    return good;
  }

  bool read_tensor(nb::handle tensor, TensorExchange const& exchange) {
    nb::dlpack::dltensor found{};
    if (exchange.describe(tensor.ptr(), &found) != 0) return false;
    if (found.device.device_type != nb::device::cpu::value || found.ndim > 2 ||
        found.strides == nullptr || found.dtype.lanes != 1)
      return false;
    data_ = static_cast<char*>(found.data) + found.byte_offset;
    type_ = found.dtype;
    ndim_ = static_cast<std::size_t>(found.ndim);
    for (std::size_t d = 0; d < ndim_; ++d) {
      shape_[d] = found.shape[d];
      strides_[d] = found.strides[d];
    }
    return true;
  }

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

/// The same for an array that is written.
class WritableHostArray : public HostArray {
 public:
  bool read(nb::handle array) { return HostArray::read(array, PyBUF_WRITABLE); }
};

/// An array in device memory, described by the package as a tuple (owner, address, shape, strides,
/// bytes per unit of stride, NumPy's name of the type, device). Not by DLPack, whose producers may
/// synchronize streams: products must not wait, and CUDA graphs cannot be recorded then.
class DeviceArray : public ArrayView {
 public:
  static constexpr auto python_name = nb::detail::const_name("tuple[typing.Any, ...]");

  int device() const { return device_; }

  /// False, possibly with a Python exception set, if it is no such tuple.
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
