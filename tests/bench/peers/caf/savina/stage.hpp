/* SPDX-License-Identifier: MIT */
// What the plays on CAF share: checks, random numbers, the master.
#ifndef SAVINA_STAGE_HPP
#define SAVINA_STAGE_HPP

#include <caf/all.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace caf;
using std::vector;

using query_atom = atom_constant<atom("query")>;
using finished_atom = atom_constant<atom("finished")>;
using done_atom = atom_constant<atom("done")>;
using answer_atom = atom_constant<atom("answer")>;
using report_atom = atom_constant<atom("report")>;

namespace {

[[noreturn]] void fail(const char* what, uint64_t got, uint64_t expected) {
  printf("FAIL caf %s: %" PRIu64 " instead of %" PRIu64 "\n", what, got, expected);
  fflush(stdout);
  _Exit(1);
}

void check(const char* what, uint64_t got, uint64_t expected) {
  if (got != expected)
    fail(what, got, expected);
}

// The generator of Park and Miller.
uint64_t random_next(uint64_t& x) {
  return x = x * 16807 % 2147483647;
}

actor sender_of(event_based_actor* self) {
  return actor_cast<actor>(self->current_sender());
}

// Gives a play: makes all other actors, reports, ends them when it is ended itself.
class master : public event_based_actor {
public:
  master(actor_config& cfg, actor driver, uint64_t n)
      : event_based_actor(cfg), n(n), driver_(std::move(driver)) {
  }
  void on_exit() override {
    for (auto& a : all)
      anon_send_exit(a, exit_reason::user_shutdown);
    all.clear();
  }

protected:
  template <class T, class... Ts>
  actor make(Ts&&... xs) {
    all.push_back(spawn<T>(std::forward<Ts>(xs)...));
    return all.back();
  }
  actor me() {
    return actor{this};
  }
  void report(uint64_t result, uint64_t operations) {
    send(driver_, report_atom::value, result, operations);
  }
  vector<actor> all;
  uint64_t n;

private:
  actor driver_;
};

} // namespace

#endif
