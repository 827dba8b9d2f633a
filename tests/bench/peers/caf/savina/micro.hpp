/* SPDX-License-Identifier: MIT */
// Plays about messages: ping-pong, counting, fork-join, thread ring, chameneos, big.
#ifndef SAVINA_MICRO_HPP
#define SAVINA_MICRO_HPP

#include "stage.hpp"

using ping_atom = atom_constant<atom("ping")>;
using pong_atom = atom_constant<atom("pong")>;
using link_atom = atom_constant<atom("link")>;
using last_atom = atom_constant<atom("last")>;
using meet_atom = atom_constant<atom("meet")>;
using change_atom = atom_constant<atom("change")>;
using fade_atom = atom_constant<atom("fade")>;

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vector<actor>)

namespace {

constexpr uint64_t workers_count = 60, members_count = 100, creatures_count = 100;
constexpr uint64_t neighbours_count = 120;

// -- ping-pong, counting, fork-join --------------------------------------------------------------

class pong : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    return {[=](ping_atom, uint64_t i) {
      check("number of a ping", i, pings_++);
      send(sender_of(this), pong_atom::value, pings_);
    }};
  }

private:
  uint64_t pings_ = 0;
};

class ping_pong : public master {
public:
  using master::master;
  behavior make_behavior() override {
    auto partner = make<pong>();
    send(partner, ping_atom::value, uint64_t{0});
    return {[=](pong_atom, uint64_t pings) {
      check("number of a pong", pings, ++answered_);
      if (answered_ < n)
        send(partner, ping_atom::value, answered_);
      else
        report(pings, pings + answered_);
    }};
  }

private:
  uint64_t answered_ = 0;
};

class counter : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    return {
      [=](uint64_t i) {
        sum_ += i;
        ++count_;
      },
      [=](query_atom) { send(sender_of(this), answer_atom::value, sum_, count_); },
    };
  }

private:
  uint64_t sum_ = 0, count_ = 0;
};

class counting : public master {
public:
  using master::master;
  behavior make_behavior() override {
    auto to = make<counter>();
    for (uint64_t i = 1; i <= n; ++i)
      send(to, i);
    send(to, query_atom::value);
    return {[=](answer_atom, uint64_t sum, uint64_t count) { report(sum, count); }};
  }
};

// Adds answers up.
class joiner : public master {
public:
  using master::master;

protected:
  behavior join(uint64_t answers) {
    return {[=](answer_atom, uint64_t sum, uint64_t count) {
      sum_ += sum;
      count_ += count;
      if (++answers_ == answers)
        report(sum_, count_);
    }};
  }

private:
  uint64_t sum_ = 0, count_ = 0, answers_ = 0;
};

class worker : public event_based_actor {
public:
  worker(actor_config& cfg, uint64_t n) : event_based_actor(cfg), n_(n) {
  }
  behavior make_behavior() override {
    return {[=](uint64_t i) {
      sum_ += i;
      if (++count_ == n_)
        send(sender_of(this), answer_atom::value, sum_, count_);
    }};
  }

private:
  uint64_t n_, sum_ = 0, count_ = 0;
};

class fork_join_throughput : public joiner {
public:
  using joiner::joiner;
  behavior make_behavior() override {
    for (uint64_t i = 0; i < workers_count; ++i)
      make<worker>(n);
    for (uint64_t k = 1; k <= n; ++k)
      for (auto& w : all)
        send(w, k);
    return join(workers_count);
  }
};

class once : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    return {[=](uint64_t i) {
      send(sender_of(this), answer_atom::value, i, uint64_t{1});
      quit();
    }};
  }
};

class fork_join_create : public joiner {
public:
  using joiner::joiner;
  behavior make_behavior() override {
    for (uint64_t i = 1; i <= n; ++i)
      send(spawn<once>(), i);
    return join(n);
  }
};

// -- thread ring, chameneos, big -----------------------------------------------------------------

class member : public event_based_actor {
public:
  member(actor_config& cfg, actor next, actor master, uint64_t number)
      : event_based_actor(cfg), next_(std::move(next)), master_(std::move(master)),
        number_(number) {
  }
  behavior make_behavior() override {
    return {
      [=](uint64_t left) {
        ++hops_;
        if (left > 1)
          send(next_, left - 1);
        else
          send(master_, last_atom::value);
      },
      [=](query_atom) { send(master_, answer_atom::value, number_, hops_); },
      [=](link_atom, const actor& first) {
        next_ = first;
        send(master_, link_atom::value);
      },
    };
  }
  void on_exit() override {
    next_ = nullptr; // the ring holds itself
    master_ = nullptr;
  }

private:
  actor next_, master_;
  uint64_t number_, hops_ = 0;
};

class thread_ring : public master {
public:
  using master::master;
  behavior make_behavior() override {
    actor next;
    for (auto i = members_count; i > 0; --i)
      next = make<member>(next, me(), i);
    send(all.front(), link_atom::value, all.back()); // made last: the first member
    return {
      [=](link_atom) { send(all.back(), uint64_t{n}); },
      [=](last_atom) {
        for (auto& a : all)
          send(a, query_atom::value);
      },
      [=](answer_atom, uint64_t number, uint64_t hops) {
        result_ += number * hops;
        hops_ += hops;
        if (++answers_ == members_count)
          report(result_, hops_);
      },
    };
  }

private:
  uint64_t result_ = 0, hops_ = 0, answers_ = 0;
};

class creature : public event_based_actor {
public:
  creature(actor_config& cfg, actor mall, uint64_t colour)
      : event_based_actor(cfg), mall_(std::move(mall)), colour_(colour) {
  }
  behavior make_behavior() override {
    come();
    return {
      [=](meet_atom, const actor& who, uint64_t other) {
        ++meetings_;
        colour_ = colour_ == other ? other : 3 - colour_ - other;
        send(who, change_atom::value, colour_);
        come();
      },
      [=](change_atom, uint64_t colour) {
        ++meetings_;
        colour_ = colour;
        come();
      },
      [=](fade_atom) { send(mall_, answer_atom::value, meetings_); },
    };
  }

private:
  void come() {
    send(mall_, meet_atom::value, actor{this}, colour_);
  }
  actor mall_;
  uint64_t colour_, meetings_ = 0;
};

class chameneos : public master {
public:
  using master::master;
  behavior make_behavior() override {
    left_ = n;
    for (uint64_t i = 0; i < creatures_count; ++i)
      make<creature>(me(), i % 3);
    return {
      [=](meet_atom, const actor& who, uint64_t colour) {
        if (left_ == 0) {
          send(who, fade_atom::value);
        } else if (!waiting_) {
          waiting_ = who;
        } else {
          --left_;
          send(waiting_, meet_atom::value, who, colour);
          waiting_ = nullptr;
        }
      },
      [=](answer_atom, uint64_t meetings) {
        meetings_ += meetings;
        if (++faded_ == creatures_count)
          report(meetings_, 4 * (n - left_));
      },
    };
  }

private:
  actor waiting_;
  uint64_t left_ = 0, meetings_ = 0, faded_ = 0;
};

class neighbour : public event_based_actor {
public:
  neighbour(actor_config& cfg, actor sink, uint64_t n, uint64_t seed)
      : event_based_actor(cfg), sink_(std::move(sink)), n_(n), random_(seed) {
  }
  behavior make_behavior() override {
    return {
      [=](ping_atom) {
        ++pinged_;
        send(sender_of(this), pong_atom::value);
      },
      [=](pong_atom) {
        check("sender of a pong", sender_of(this) == all_[target_], true);
        if (++ponged_ < n_)
          next();
        else
          send(sink_, finished_atom::value);
      },
      [=](query_atom) { send(sink_, answer_atom::value, ponged_, pinged_); },
      [=](const vector<actor>& all) {
        all_ = all;
        next();
      },
    };
  }
  void on_exit() override {
    all_.clear(); // they hold each other
  }

private:
  void next() {
    target_ = random_next(random_) % neighbours_count;
    send(all_[target_], ping_atom::value);
  }
  actor sink_;
  vector<actor> all_;
  uint64_t n_, random_, target_ = 0, ponged_ = 0, pinged_ = 0;
};

class big : public master {
public:
  using master::master;
  behavior make_behavior() override {
    for (uint64_t i = 1; i <= neighbours_count; ++i)
      make<neighbour>(me(), n, i);
    for (auto& a : all)
      send(a, all);
    return {
      [=](finished_atom) {
        if (++finished_ < neighbours_count)
          return;
        for (auto& a : all)
          send(a, query_atom::value);
      },
      [=](answer_atom, uint64_t ponged, uint64_t pinged) {
        ponged_ += ponged;
        pinged_ += pinged;
        if (++answers_ == neighbours_count)
          report(pinged_, pinged_ + ponged_);
      },
    };
  }

private:
  uint64_t finished_ = 0, answers_ = 0, ponged_ = 0, pinged_ = 0;
};

} // namespace

#endif
