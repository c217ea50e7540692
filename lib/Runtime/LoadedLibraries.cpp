//===- LoadedLibraries.cpp ------------------------------------------------===//

#include "LoadedLibraries.h"

#include <cstring>

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

void *wok::runtime::findLoadedLibrary(const char *part) noexcept {
  struct Search {
    const char *part;
    char path[PATH_MAX];
  } search{part, {}};
  // dlopen may not be called from within the walk: it holds the loader's lock.
  auto visit = [](dl_phdr_info *info, size_t, void *data) -> int {
    auto &search = *static_cast<Search *>(data);
    const char *slash = std::strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    if (!std::strstr(file, search.part) ||
        std::strlen(info->dlpi_name) >= sizeof(search.path))
      return 0;
    std::strcpy(search.path, info->dlpi_name);
    return 1;
  };
  if (!dl_iterate_phdr(visit, &search))
    return nullptr;
  return dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
}
