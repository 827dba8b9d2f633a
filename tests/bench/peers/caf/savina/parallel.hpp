/* SPDX-License-Identifier: MIT */
// Plays about work: sieve, fibonacci, n-queens.
#ifndef SAVINA_PARALLEL_HPP
#define SAVINA_PARALLEL_HPP

#include "stage.hpp"

using end_atom = atom_constant<atom("end")>;
using solved_atom = atom_constant<atom("solved")>;

constexpr uint64_t columns_max = 24;

struct board {
  uint64_t placed = 0;
  uint8_t rows[columns_max] = {};
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(board)

namespace {

constexpr uint64_t primes_most = 10, queen_workers = 20, alone_count = 3;

// -- sieve, fibonacci, n-queens ------------------------------------------------------------------

class filter : public event_based_actor {
public:
  filter(actor_config& cfg, actor master, uint64_t prime)
      : event_based_actor(cfg), master_(std::move(master)), primes_{prime} {
  }
  behavior make_behavior() override {
    return {
      [=](uint64_t i) {
        ++numbers_;
        for (auto p : primes_)
          if (i % p == 0)
            return;
        if (next_)
          send(next_, i);
        else if (primes_.size() < primes_most)
          primes_.push_back(i);
        else
          next_ = spawn<filter>(master_, i);
      },
      [=](end_atom, uint64_t primes, uint64_t numbers) {
        primes += primes_.size();
        numbers += numbers_;
        if (next_)
          send(next_, end_atom::value, primes, numbers);
        else
          send(master_, end_atom::value, primes, numbers);
        quit();
      },
    };
  }

private:
  actor master_, next_;
  vector<uint64_t> primes_;
  uint64_t numbers_ = 0;
};

class sieve : public master {
public:
  using master::master;
  behavior make_behavior() override {
    auto first = make<filter>(me(), uint64_t{2});
    for (uint64_t i = 3; i < n; i += 2)
      send(first, i);
    send(first, end_atom::value, uint64_t{0}, uint64_t{0});
    return {[=](end_atom, uint64_t primes, uint64_t numbers) { report(primes, numbers); }};
  }
};

class fib_node : public event_based_actor {
public:
  fib_node(actor_config& cfg, actor parent) : event_based_actor(cfg), parent_(std::move(parent)) {
  }
  behavior make_behavior() override {
    return {
      [=](uint64_t i) {
        if (i <= 2) {
          sum_ = 1;
          answer();
          return;
        }
        send(spawn<fib_node>(actor{this}), i - 1);
        send(spawn<fib_node>(actor{this}), i - 2);
      },
      [=](answer_atom, uint64_t sum, uint64_t actors) {
        sum_ += sum;
        actors_ += actors;
        if (++answers_ == 2)
          answer();
      },
    };
  }

private:
  void answer() {
    send(parent_, answer_atom::value, sum_, actors_);
    quit();
  }
  actor parent_;
  uint64_t sum_ = 0, actors_ = 1, answers_ = 0;
};

class fibonacci : public master {
public:
  using master::master;
  behavior make_behavior() override {
    send(spawn<fib_node>(me()), uint64_t{n});
    return {[=](answer_atom, uint64_t sum, uint64_t actors) { report(sum, actors); }};
  }
};

bool place(board& to, const board& b, uint8_t row) {
  for (uint64_t i = 0; i < b.placed; ++i) {
    auto distance = b.placed - i;
    if (b.rows[i] == row || b.rows[i] + distance == row || row + distance == b.rows[i])
      return false;
  }
  to = b;
  to.rows[to.placed++] = row;
  return true;
}

class queens_worker : public event_based_actor {
public:
  queens_worker(actor_config& cfg, actor master, uint64_t n)
      : event_based_actor(cfg), master_(std::move(master)), n_(n) {
  }
  behavior make_behavior() override {
    return {[=](const board& b) {
      board next;
      if (b.placed + alone_count >= n_)
        alone(b);
      else
        for (uint8_t row = 0; row < n_; ++row)
          if (place(next, b, row))
            send(master_, next);
      send(master_, done_atom::value);
    }};
  }

private:
  void alone(const board& b) {
    board next;
    if (b.placed == n_) {
      send(master_, solved_atom::value);
      return;
    }
    for (uint8_t row = 0; row < n_; ++row)
      if (place(next, b, row))
        alone(next);
  }
  actor master_;
  uint64_t n_;
};

class nqueens : public master {
public:
  using master::master;
  behavior make_behavior() override {
    check("columns", n <= columns_max, true);
    for (uint64_t i = 0; i < queen_workers; ++i)
      make<queens_worker>(me(), n);
    hand(board{});
    return {
      [=](const board& b) {
        ++came_;
        hand(b);
      },
      [=](solved_atom) { ++solutions_; },
      [=](done_atom) {
        if (++done_ == sent_)
          report(solutions_, sent_ + came_ + done_ + solutions_);
      },
    };
  }

private:
  void hand(const board& b) {
    send(all[sent_++ % queen_workers], b);
  }
  uint64_t sent_ = 0, came_ = 0, done_ = 0, solutions_ = 0;
};

} // namespace

#endif
