#include "hw/fabric/timer.h"

#include <catch2/catch.hpp>

namespace umf::test {

TEST_CASE("timers come earliest first, equal instants in order of setting") {
  hw::TimerQueue<char> queue;
  CHECK(queue.empty());
  queue.at(20_ns, 'c');
  queue.at(10_ns, 'a');
  queue.at(20_ns, 'd');
  queue.at(10_ns, 'b');

  CHECK(queue.next() == 10_ns);
  std::string order;
  while (!queue.empty())
    order += queue.take();
  CHECK(order == "abcd");
}

TEST_CASE("a timer set for an instant already in the queue comes after those set before") {
  hw::TimerQueue<int> queue;
  queue.at(5_ns, 1);
  queue.at(5_ns, 2);
  CHECK(queue.take() == 1);
  queue.at(5_ns, 3);
  CHECK(queue.take() == 2);
  CHECK(queue.take() == 3);
}

} // namespace umf::test
