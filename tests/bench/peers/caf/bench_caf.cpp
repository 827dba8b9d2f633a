/* SPDX-License-Identifier: MIT */
// Peer benchmark: CAF 0.17.  One process = one workload.
//   bench_caf WORKLOAD [THROUGHPUT [REPETITIONS]]   THROUGHPUT 0: library default (unlimited)
// stdout: "workload unit value value ...".  stderr: facts, lines start with '#'.
#include <caf/all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include <pthread.h>
#include <sched.h>

using namespace caf;
using std::string;
using std::vector;

using get_atom = atom_constant<atom("get")>;
using go_atom = atom_constant<atom("go")>;
using started_atom = atom_constant<atom("started")>;
using stopped_atom = atom_constant<atom("stopped")>;
using done_atom = atom_constant<atom("done")>;

namespace {

int reps = 5;                      // measured repetitions, one more before them as warm-up
constexpr uint64_t batch = 10'000; // messages enqueued before the sender waits
constexpr uint64_t flood_total = 500'000;
constexpr uint64_t volley_hops = 250'000;
constexpr uint64_t ask_rounds = 50'000;
constexpr uint64_t ring_size = 100, ring_hops = 250'000;
constexpr uint64_t fan_workers = 100, fan_rounds = 2'500, fan_burst = 100;
constexpr uint64_t spawn_total = 50'000, spawn_batch = 100;
constexpr uint64_t idle_total = 200'000, idle_batch = 1'000;
constexpr uint64_t cross_hops = 20'000; // a hop across CPUs can be a sleep and a wake-up

string runtime = "caf"; // in messages
string workload;

[[noreturn]] void fail(const char* what, uint64_t want, uint64_t got) {
  printf("FAIL %s %s: %s: sent %" PRIu64 ", handled %" PRIu64 "\n",
         runtime.c_str(), workload.c_str(), what, want, got);
  fflush(stdout);
  _Exit(1);
}

void check(const char* what, uint64_t want, uint64_t got) {
  if (want != got)
    fail(what, want, got);
}

double now_ns() {
  using namespace std::chrono;
  return static_cast<double>(
    duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

void pin(int cpu) {
  cpu_set_t s;
  CPU_ZERO(&s);
  CPU_SET(cpu, &s);
  if (pthread_setaffinity_np(pthread_self(), sizeof s, &s) != 0)
    fail("pin to cpu", static_cast<uint64_t>(cpu), 0);
}

// Collects one time per repetition; the driver actor calls lap() and lets main go at the end.
struct stopwatch {
  int rep = -1; // -1 = warm-up
  double t0 = 0;
  uint64_t ops = 0;
  vector<double> xs;
  std::promise<void> done;

  void start() {
    t0 = now_ns();
  }
  // Returns true when all repetitions are finished (and main has been let go).
  bool lap() {
    if (rep >= 0)
      xs.push_back((now_ns() - t0) / static_cast<double>(ops));
    if (++rep < reps)
      return false;
    done.set_value();
    return true;
  }
  void print() const {
    printf("%s ns", workload.c_str());
    for (auto x : xs)
      printf(" %.1f", x);
    puts("");
  }
};

stopwatch sw;
int worker_cpu = -1; // *_clock0 variants: the worker moves here, CAF's other threads stay on CPU 0

actor sender_of(event_based_actor* self) {
  return actor_cast<actor>(self->current_sender());
}

// -- flood: n messages to a counter, in batches, each batch confirmed ----------------------------

class counter : public event_based_actor {
public:
  counter(actor_config& cfg, int cpu) : event_based_actor(cfg), cpu_(cpu) {
  }
  behavior make_behavior() override {
    if (cpu_ >= 0)
      pin(cpu_);
    return {
      [=](uint64_t x) {
        ++n_;
        sum_ += x;
      },
      [=](get_atom) {
        auto n = n_;
        n_ = 0;
        return n;
      },
    };
  }

private:
  int cpu_;
  uint64_t n_ = 0, sum_ = 0;
};

class flooder : public event_based_actor {
public:
  flooder(actor_config& cfg, actor to, int cpu)
      : event_based_actor(cfg), to_(std::move(to)), cpu_(cpu) {
  }
  behavior make_behavior() override {
    if (cpu_ >= 0)
      pin(cpu_);
    return {
      [=](go_atom) {
        sent_ = got_ = 0;
        sw.ops = flood_total;
        sw.start();
        one_batch();
      },
      [=](uint64_t n) { // the counter's answer
        check("batch", batch, n);
        got_ += n;
        if (sent_ < flood_total) {
          one_batch();
          return;
        }
        check("all", sent_, got_);
        if (!sw.lap())
          send(this, go_atom::value);
      },
    };
  }

private:
  void one_batch() {
    for (uint64_t i = 0; i < batch; ++i)
      send(to_, uint64_t{i});
    sent_ += batch;
    send(to_, get_atom::value);
  }
  actor to_;
  int cpu_;
  uint64_t sent_ = 0, got_ = 0;
};

// -- volley --------------------------------------------------------------------------------------

std::atomic<uint64_t> pong_handled{0}; // written by pong only, read by ping after the last reply

class pong : public event_based_actor {
public:
  pong(actor_config& cfg, int cpu) : event_based_actor(cfg), cpu_(cpu) {
  }
  behavior make_behavior() override {
    if (cpu_ >= 0)
      pin(cpu_);
    return {
      [=](uint64_t x) {
        pong_handled.store(pong_handled.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
        send(sender_of(this), x);
      },
    };
  }

private:
  int cpu_;
};

class ping : public event_based_actor {
public:
  ping(actor_config& cfg, actor p, uint64_t hops, int cpu)
      : event_based_actor(cfg), pong_(std::move(p)), hops_(hops), cpu_(cpu) {
  }
  behavior make_behavior() override {
    if (cpu_ >= 0)
      pin(cpu_);
    return {
      [=](go_atom) {
        handled_ = 0;
        pong_handled = 0;
        sw.ops = hops_;
        sw.start();
        send(pong_, uint64_t{0});
      },
      [=](uint64_t x) {
        if (++handled_ < hops_ / 2) {
          send(pong_, x + 1);
          return;
        }
        check("hops", hops_, handled_ + pong_handled.load());
        check("payload", hops_ / 2 - 1, x);
        if (!sw.lap())
          send(this, go_atom::value);
      },
    };
  }

private:
  actor pong_;
  uint64_t hops_, handled_ = 0;
  int cpu_;
};

// -- ask -----------------------------------------------------------------------------------------

class echo : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    return {[=](uint64_t x) { return x; }};
  }
};

class asker : public event_based_actor {
public:
  asker(actor_config& cfg, actor to, bool timeout)
      : event_based_actor(cfg), to_(std::move(to)), timeout_(timeout) {
  }
  behavior make_behavior() override {
    if (worker_cpu >= 0)
      pin(worker_cpu);
    return {
      [=](go_atom) {
        i_ = ok_ = 0;
        sw.ops = ask_rounds;
        sw.start();
        next();
      },
    };
  }

private:
  void next() {
    if (timeout_)
      request(to_, std::chrono::seconds(60), i_).then([=](uint64_t r) { reply(r); });
    else
      request(to_, infinite, i_).then([=](uint64_t r) { reply(r); });
  }
  void reply(uint64_t r) {
    ok_ += r == i_;
    if (++i_ < ask_rounds) {
      next();
      return;
    }
    check("rounds", ask_rounds, ok_);
    if (!sw.lap())
      send(this, go_atom::value);
  }
  actor to_;
  bool timeout_;
  uint64_t i_ = 0, ok_ = 0;
};

// -- ring ----------------------------------------------------------------------------------------

vector<actor> ring;
vector<uint64_t> ring_handled;

class ring_node : public event_based_actor {
public:
  ring_node(actor_config& cfg, size_t i) : event_based_actor(cfg), i_(i) {
  }
  behavior make_behavior() override {
    return {
      [=](go_atom) { // only node 0
        std::fill(ring_handled.begin(), ring_handled.end(), 0);
        sw.ops = ring_hops;
        sw.start();
        send(this, uint64_t{ring_hops});
      },
      [=](uint64_t left) {
        ++ring_handled[i_];
        if (left > 1) {
          send(ring[(i_ + 1) % ring_size], left - 1);
          return;
        }
        uint64_t sum = 0;
        for (auto h : ring_handled) {
          check("hops of one node", ring_hops / ring_size, h);
          sum += h;
        }
        check("hops", ring_hops, sum);
        if (!sw.lap())
          send(ring[0], go_atom::value);
      },
    };
  }

private:
  size_t i_;
};

// -- fan-out -------------------------------------------------------------------------------------

class fan_worker : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    return {
      [=](uint64_t) {
        if (++n_ % fan_burst == 0)
          send(sender_of(this), done_atom::value, uint64_t{n_});
      },
    };
  }

private:
  uint64_t n_ = 0;
};

class fan_driver : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    for (uint64_t i = 0; i < fan_workers; ++i)
      ws_.push_back(spawn<fan_worker>());
    return {
      [=](go_atom) {
        left_ = fan_rounds / fan_burst;
        handled_ = 0;
        sw.ops = fan_rounds * fan_workers;
        sw.start();
        burst();
      },
      [=](done_atom, uint64_t n) {
        check("worker's own count", sent_per_worker_, n);
        handled_ += fan_burst;
        if (++done_ < fan_workers)
          return;
        if (--left_ > 0) {
          burst();
          return;
        }
        check("all", fan_rounds * fan_workers, handled_);
        if (!sw.lap())
          send(this, go_atom::value);
      },
    };
  }

private:
  void burst() {
    done_ = 0;
    sent_per_worker_ += fan_burst;
    for (uint64_t r = 0; r < fan_burst; ++r)
      for (auto& w : ws_)
        send(w, r);
  }
  vector<actor> ws_;
  uint64_t left_ = 0, done_ = 0, handled_ = 0, sent_per_worker_ = 0;
};

// -- spawn and idle memory -----------------------------------------------------------------------

uint64_t started, stopped, life_want; // one scheduler thread: plain variables
actor life_driver;

class life : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    if (++started == life_want)
      send(life_driver, started_atom::value);
    return {[](uint64_t) {}};
  }
  void on_exit() override {
    if (++stopped == life_want)
      anon_send(life_driver, stopped_atom::value);
  }
};

class spawner : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    if (worker_cpu >= 0)
      pin(worker_cpu);
    life_driver = actor{this};
    life_want = spawn_batch;
    refs_.reserve(spawn_batch);
    return {
      [=](go_atom) {
        starts_ = stops_ = 0;
        sw.ops = spawn_total;
        sw.start();
        one_batch();
      },
      [=](started_atom) {
        starts_ += started;
        for (auto& r : refs_)
          send_exit(r, exit_reason::user_shutdown);
      },
      [=](stopped_atom) {
        stops_ += stopped;
        if (stops_ < spawn_total) {
          one_batch();
          return;
        }
        check("started", spawn_total, starts_);
        check("stopped", spawn_total, stops_);
        if (!sw.lap())
          send(this, go_atom::value);
      },
    };
  }

private:
  void one_batch() {
    started = stopped = 0;
    refs_.clear();
    for (uint64_t i = 0; i < spawn_batch; ++i)
      refs_.push_back(spawn<life>());
  }
  vector<actor> refs_;
  uint64_t starts_ = 0, stops_ = 0;
};

double rss_bytes() {
  std::ifstream in("/proc/self/status");
  string line;
  while (std::getline(in, line))
    if (line.compare(0, 6, "VmRSS:") == 0)
      return strtod(line.c_str() + 6, nullptr) * 1024;
  return 0;
}

class idler : public event_based_actor {
public:
  using event_based_actor::event_based_actor;
  behavior make_behavior() override {
    life_driver = actor{this};
    life_want = idle_batch;
    refs_.assign(idle_total, actor{}); // touch the handles before the first reading
    return {
      [=](go_atom) {
        before_ = rss_bytes();
        one_batch();
      },
      [=](started_atom) {
        starts_ += started;
        if (starts_ < idle_total) {
          one_batch();
          return;
        }
        check("started", idle_total, starts_);
        auto r = (rss_bytes() - before_) / static_cast<double>(idle_total);
        printf("%s bytes %.1f\n", workload.c_str(), r);
        fflush(stdout);
        _Exit(0); // fresh process per reading, nothing to tear down
      },
    };
  }

private:
  void one_batch() {
    started = 0;
    for (uint64_t i = 0; i < idle_batch; ++i)
      refs_[at_++] = spawn<life>();
  }
  vector<actor> refs_;
  uint64_t starts_ = 0, at_ = 0;
  double before_ = 0;
};

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s WORKLOAD [THROUGHPUT [REPETITIONS]]\n", argv[0]);
    return 2;
  }
  workload = argv[1];
  auto throughput = argc > 2 ? strtoull(argv[2], nullptr, 10) : 0;
  if (argc > 3)
    reps = atoi(argv[3]);
  auto two = workload == "cross_flood_2w" || workload == "cross_volley_2w";
  if (workload == "spawn_clock0" || workload == "ask_timeout60s_clock0") {
    pin(0); // inherited by every thread CAF starts
    worker_cpu = 1;
  }
  actor_system_config cfg;
  cfg.set("scheduler.max-threads", static_cast<int64_t>(two ? 2 : 1));
  if (throughput > 0) {
    cfg.set("scheduler.max-throughput", static_cast<int64_t>(throughput));
    runtime += "/t" + std::to_string(throughput);
  }
  actor_system sys{cfg};
  check("scheduler threads", two ? 2 : 1, sys.scheduler().num_workers());
  if (throughput > 0)
    check("max-throughput", throughput, sys.scheduler().max_throughput());
  fprintf(stderr, "# %s %s workers=%zu max-throughput=%zu\n", runtime.c_str(),
          workload.c_str(), sys.scheduler().num_workers(),
          sys.scheduler().max_throughput());
  actor d;
  if (workload == "tell_flood" || workload == "cross_flood_2w")
    d = sys.spawn<flooder>(sys.spawn<counter>(-1), -1);
  else if (workload == "cross_flood")
    d = sys.spawn<flooder, detached>(sys.spawn<counter, detached>(1), 0);
  else if (workload == "volley") {
    d = sys.spawn<ping>(sys.spawn<pong>(-1), volley_hops, -1);
  } else if (workload == "cross_volley_2w") {
    d = sys.spawn<ping>(sys.spawn<pong>(-1), cross_hops, -1);
  } else if (workload == "cross_volley") {
    d = sys.spawn<ping, detached>(sys.spawn<pong, detached>(1), cross_hops, 0);
  } else if (workload == "ask" || workload == "ask_timeout60s"
           || workload == "ask_timeout60s_clock0")
    d = sys.spawn<asker>(sys.spawn<echo>(), workload != "ask");
  else if (workload == "ring100") {
    ring_handled.resize(ring_size);
    for (size_t i = 0; i < ring_size; ++i)
      ring.push_back(sys.spawn<ring_node>(i));
    d = ring[0];
  } else if (workload == "fanout")
    d = sys.spawn<fan_driver>();
  else if (workload == "spawn" || workload == "spawn_clock0")
    d = sys.spawn<spawner>();
  else if (workload == "idle_mem")
    d = sys.spawn<idler>();
  else {
    fprintf(stderr, "unknown workload %s\n", workload.c_str());
    return 2;
  }
  anon_send(d, go_atom::value);
  sw.done.get_future().wait();
  sw.print();
  fflush(nullptr);
  _Exit(0);
}
