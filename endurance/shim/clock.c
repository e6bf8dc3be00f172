// The time of day, which may be wrong.

#include "shim.h"
#include <sys/time.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  static __typeof__(&clock_gettime) original;
  if (!original) original = REAL(clock_gettime);
  int result = original(clock, time);
  int is_time_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  int64_t offset_ms = is_time_of_day && control ? control->clock_offset_ms : 0;
  if (result != 0 || offset_ms == 0) return result;
  count_hit();
  int64_t all = time->tv_sec * 1000000000LL + time->tv_nsec + offset_ms * 1000000LL;
  time->tv_sec = all / 1000000000LL;
  time->tv_nsec = all % 1000000000LL;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}
