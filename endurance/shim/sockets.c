// What is sent to a peer.

#include "shim.h"
#include <netinet/in.h>
#include <sys/socket.h>

// Enough for the status line of a response.
#define RECORDED 16

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
  static __typeof__(&send) original;
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  if (is_recording() && getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.ss_family == AF_INET) {
    put(SEND, 0, ntohs(((struct sockaddr_in *)&peer)->sin_port), 0, bytes, size < RECORDED ? size : RECORDED);
  }
  if (!original) original = REAL(send);
  return original(fd, bytes, size, flags);
}
