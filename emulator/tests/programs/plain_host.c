/* A host program that knows nothing of the emulator: opens the library that it is given and prints its
 * devices. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** word) {
  int (*device_count)(int*);
  int (*properties)(void*, int);
  static char p[4096]; /* larger than any version of the structure; the architecture's name is at 1160 */
  int devices = 0, n;
  void* library = count > 1 ? dlopen(word[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) return fprintf(stderr, "plain_host: %s\n", count > 1 ? dlerror() : "no library"), 1;
  *(void**)&device_count = dlsym(library, "hipGetDeviceCount");
  *(void**)&properties = dlsym(library, "hipGetDevicePropertiesR0600");
  if (!device_count || !properties || device_count(&devices)) return 1;
  for (n = 0; n < devices; ++n)
    if (properties(p, n))
      return 1;
    else
      printf("%s%s", n ? "," : "", p + 1160);
  printf("\n");
  return 0;
}
