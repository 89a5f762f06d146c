# Stands in for CMake's own: the toolkit is as new as the test says.
if(FAKE_CUDA_VERSION)
  set(CUDAToolkit_VERSION ${FAKE_CUDA_VERSION})
  set(CUDAToolkit_FOUND TRUE)
else()
  set(CUDAToolkit_FOUND FALSE)
endif()
