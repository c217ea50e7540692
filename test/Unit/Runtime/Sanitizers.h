//===- Sanitizers.h - Whether a sanitizer watches ---------------*- C++ -*-===//

#ifndef WOK_TEST_UNIT_RUNTIME_SANITIZERS_H
#define WOK_TEST_UNIT_RUNTIME_SANITIZERS_H

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if __has_feature(thread_sanitizer) || defined(__SANITIZE_THREAD__)
#define WOK_TEST_TSAN 1
#else
#define WOK_TEST_TSAN 0
#endif

#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#define WOK_TEST_ASAN 1
#else
#define WOK_TEST_ASAN 0
#endif

#endif // WOK_TEST_UNIT_RUNTIME_SANITIZERS_H
