/* SPDX-License-Identifier: MIT */
// Plays about who waits for whom: bounded buffer, philosophers, banking.
#ifndef SAVINA_CONCURRENCY_HPP
#define SAVINA_CONCURRENCY_HPP

#include "stage.hpp"

#include <deque>

using wanted_atom = atom_constant<atom("wanted")>;
using item_atom = atom_constant<atom("item")>;
using consumed_atom = atom_constant<atom("consumed")>;
using start_atom = atom_constant<atom("start")>;
using hungry_atom = atom_constant<atom("hungry")>;
using eat_atom = atom_constant<atom("eat")>;
using denied_atom = atom_constant<atom("denied")>;
using credit_atom = atom_constant<atom("credit")>;
using debit_atom = atom_constant<atom("debit")>;
using taken_atom = atom_constant<atom("taken")>;
using made_atom = atom_constant<atom("made")>;

namespace {

constexpr uint64_t philosophers_count = 20;
constexpr uint64_t producers_count = 40, consumers_count = 40, buffer_size = 50;
constexpr uint64_t accounts_count = 200, payers_count = 160, amount_max = 1000;

// -- bounded buffer, philosophers ----------------------------------------------------------------

class producer : public event_based_actor {
public:
  producer(actor_config& cfg, uint64_t n, uint64_t seed)
      : event_based_actor(cfg), n_(n), random_(seed) {
  }
  behavior make_behavior() override {
    return {[=](wanted_atom) {
      if (made_++ < n_)
        send(sender_of(this), item_atom::value, random_next(random_));
      else
        send(sender_of(this), finished_atom::value);
    }};
  }

private:
  uint64_t n_, random_, made_ = 0;
};

class consumer : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    return {[=](item_atom, uint64_t item) {
      send(sender_of(this), consumed_atom::value, item);
    }};
  }
};

class bounded_buffer : public master {
public:
  using master::master;
  behavior make_behavior() override {
    for (uint64_t i = 0; i < consumers_count; ++i)
      consumers_.push_back(make<consumer>());
    for (uint64_t i = 1; i <= producers_count; ++i)
      send(make<producer>(n, i), wanted_atom::value);
    return {
      [=](item_atom, uint64_t item) { came(item); },
      [=](consumed_atom, uint64_t item) {
        sum_ += item;
        ++consumed_;
        if (items_.empty())
          consumers_.push_back(sender_of(this));
        else
          hand_on();
        end();
      },
      [=](finished_atom) {
        ++finished_;
        end();
      },
    };
  }

private:
  void came(uint64_t item) {
    if (consumers_.empty()) {
      items_.push_back(item);
      if (items_.size() > buffer_size)
        fail("items that wait", items_.size(), buffer_size);
    } else {
      send(consumers_.front(), item_atom::value, item);
      consumers_.pop_front();
    }
    if (items_.size() < buffer_size - producers_count)
      send(sender_of(this), wanted_atom::value);
    else
      producers_.push_back(sender_of(this));
  }
  void hand_on() {
    send(sender_of(this), item_atom::value, items_.front());
    items_.pop_front();
    if (producers_.empty())
      return;
    send(producers_.front(), wanted_atom::value);
    producers_.pop_front();
  }
  void end() {
    if (finished_ == producers_count && consumers_.size() == consumers_count)
      report(sum_, 4 * consumed_);
  }
  std::deque<actor> producers_, consumers_; // who waits
  std::deque<uint64_t> items_;
  uint64_t sum_ = 0, consumed_ = 0, finished_ = 0;
};

class philosopher : public event_based_actor {
public:
  philosopher(actor_config& cfg, uint64_t number, uint64_t n, actor arbiter)
      : event_based_actor(cfg), number_(number), n_(n), arbiter_(std::move(arbiter)) {
  }
  behavior make_behavior() override {
    return {
      [=](start_atom) { send(arbiter_, hungry_atom::value, number_); },
      [=](denied_atom) {
        ++denials_;
        send(arbiter_, hungry_atom::value, number_);
      },
      [=](eat_atom) {
        send(arbiter_, done_atom::value, number_);
        if (++meals_ < n_)
          send(this, start_atom::value);
        else
          send(arbiter_, finished_atom::value, meals_, denials_);
      },
    };
  }

private:
  uint64_t number_, n_, meals_ = 0, denials_ = 0;
  actor arbiter_;
};

class philosophers : public master {
public:
  using master::master;
  behavior make_behavior() override {
    for (uint64_t i = 0; i < philosophers_count; ++i) {
      forks_.push_back(nobody);
      send(make<philosopher>(i, n, me()), start_atom::value);
    }
    return {
      [=](hungry_atom, uint64_t who) {
        if (left(who) != nobody || right(who) != nobody) {
          ++denials_;
          send(sender_of(this), denied_atom::value);
          return;
        }
        left(who) = right(who) = who;
        send(sender_of(this), eat_atom::value);
      },
      [=](done_atom, uint64_t who) {
        check("holder of a fork", left(who), who);
        check("holder of a fork", right(who), who);
        left(who) = right(who) = nobody;
        ++meals_;
      },
      [=](finished_atom, uint64_t meals, uint64_t denials) {
        eaten_ += meals;
        heard_ += denials;
        if (++gone_ < philosophers_count)
          return;
        check("denials", heard_, denials_);
        report(eaten_, meals_);
      },
    };
  }

private:
  static constexpr uint64_t nobody = UINT64_MAX;
  uint64_t& left(uint64_t who) {
    return forks_[who];
  }
  uint64_t& right(uint64_t who) {
    return forks_[(who + 1) % philosophers_count];
  }
  vector<uint64_t> forks_;
  uint64_t denials_ = 0, meals_ = 0, eaten_ = 0, heard_ = 0, gone_ = 0;
};
constexpr uint64_t philosophers::nobody;

// -- banking -------------------------------------------------------------------------------------

class account : public event_based_actor {
public:
  account(actor_config& cfg, actor teller, uint64_t number, uint64_t balance)
      : event_based_actor(cfg), teller_(std::move(teller)), number_(number), balance_(balance) {
  }
  behavior make_behavior() override {
    return {
      [=](credit_atom, const actor& to, uint64_t amount) {
        balance_ -= amount;
        request(to, infinite, debit_atom::value, amount).then([=](taken_atom) {
          send(teller_, made_atom::value);
        });
      },
      [=](debit_atom, uint64_t amount) {
        balance_ += amount;
        return taken_atom::value;
      },
      [=](query_atom) { send(teller_, answer_atom::value, number_, balance_); },
    };
  }

private:
  actor teller_;
  uint64_t number_, balance_;
};

class banking : public master {
public:
  using master::master;
  behavior make_behavior() override {
    uint64_t random = 1;
    for (uint64_t i = 1; i <= accounts_count; ++i)
      make<account>(me(), i, amount_max * n);
    for (uint64_t i = 0; i < n; ++i) {
      auto from = random_next(random) % payers_count;
      auto amount = 1 + random_next(random) % amount_max;
      auto to = from + 1 + random_next(random) % (accounts_count - from - 1);
      send(all[from], credit_atom::value, all[to], amount);
    }
    return {
      [=](made_atom) {
        if (++made_ < n)
          return;
        for (auto& a : all)
          send(a, query_atom::value);
      },
      [=](answer_atom, uint64_t number, uint64_t balance) {
        result_ += number * balance;
        if (++answers_ == accounts_count)
          report(result_, 4 * made_);
      },
    };
  }

private:
  uint64_t made_ = 0, result_ = 0, answers_ = 0;
};

} // namespace

#endif
