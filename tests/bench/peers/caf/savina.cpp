/* SPDX-License-Identifier: MIT */
// The Savina suite on CAF 0.17: the same plays as tests/bench/savina/.  One process = one play.
//   savina_caf PLAY LOOPS N REPETITIONS RESULT OPERATIONS     LOOPS: threads of the scheduler
// RESULT and OPERATIONS are what `savina expect PLAY n=N` prints.
// stdout: "PLAY/LOOPS ns value value ...", a value per repetition after a warm-up.

#include "savina/concurrency.hpp"
#include "savina/micro.hpp"
#include "savina/parallel.hpp"

#include <chrono>
#include <map>
#include <string>

namespace {

template <class T>
actor give(actor_system& sys, const actor& driver, uint64_t n) {
  return sys.spawn<T>(driver, n);
}

const std::map<std::string, actor (*)(actor_system&, const actor&, uint64_t)> plays{
  {"ping_pong", give<ping_pong>},
  {"counting", give<counting>},
  {"fork_join_throughput", give<fork_join_throughput>},
  {"fork_join_create", give<fork_join_create>},
  {"thread_ring", give<thread_ring>},
  {"chameneos", give<chameneos>},
  {"big", give<big>},
  {"bounded_buffer", give<bounded_buffer>},
  {"philosophers", give<philosophers>},
  {"banking", give<banking>},
  {"sieve", give<sieve>},
  {"fibonacci", give<fibonacci>},
  {"nqueens", give<nqueens>},
};

double now_ns() {
  using namespace std::chrono;
  return static_cast<double>(
    duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

} // namespace

int main(int argc, char** argv) {
  auto number = [&](int i) { return strtoull(argv[i], nullptr, 10); };
  if (argc != 7 || plays.count(argv[1]) == 0) {
    fprintf(stderr, "usage: %s PLAY LOOPS N REPETITIONS RESULT OPERATIONS\n", argv[0]);
    return 2;
  }
  auto n = number(3), repetitions = number(4), result = number(5), operations = number(6);
  actor_system_config cfg;
  cfg.set("scheduler.max-threads", static_cast<int64_t>(number(2)));
  actor_system sys{cfg};
  check("scheduler threads", sys.scheduler().num_workers(), number(2));
  scoped_actor self{sys};
  auto alone = sys.registry().running();
  vector<double> values;
  for (uint64_t lap = 0; lap <= repetitions; ++lap) {
    auto began = now_ns();
    auto m = plays.at(argv[1])(sys, actor_cast<actor>(self), n);
    self->receive([&](report_atom, uint64_t r, uint64_t o) {
      if (lap > 0)
        values.push_back((now_ns() - began) / static_cast<double>(o));
      check(argv[1], r, result);
      check("operations", o, operations);
    });
    anon_send_exit(m, exit_reason::user_shutdown);
    m = nullptr;
    sys.registry().await_running_count_equal(alone);
  }
  printf("%s/%s ns", argv[1], argv[2]);
  for (auto v : values)
    printf(" %.3f", v);
  puts("");
  fflush(nullptr);
  _Exit(0);
}
