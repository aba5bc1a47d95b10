/* Wine 8 has no bcryptprimitives.dll, which the standard library asks for random bytes. This one takes them from advapi32. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) {
  return SystemFunction036(bytes, (ULONG)count);
}
