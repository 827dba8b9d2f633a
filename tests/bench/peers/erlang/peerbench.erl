%% SPDX-License-Identifier: MIT
%% Peer benchmark: Erlang/OTP 25.  One VM = one workload.
%%   erl +S 1:1 -noinput -pa DIRECTORY -run peerbench main WORKLOAD [REPETITIONS]
%% stdout: "workload unit value value ...".  stderr: facts, lines start with '#'.
-module(peerbench).
-behaviour(gen_server).
-export([main/1]).
-export([init/1, handle_call/3, handle_cast/2]).

-define(BATCH, 10000).            % messages enqueued before the sender waits
-define(FLOOD_TOTAL, 500000).
-define(VOLLEY_HOPS, 250000).
-define(ASK_ROUNDS, 50000).
-define(RING_SIZE, 100).
-define(RING_HOPS, 250000).
-define(FAN_WORKERS, 100).
-define(FAN_ROUNDS, 2500).
-define(FAN_BURST, 100).
-define(SPAWN_TOTAL, 50000).
-define(SPAWN_BATCH, 100).
-define(IDLE_TOTAL, 200000).
-define(CROSS_HOPS, 20000).

main([W | Rest]) ->
    put(reps, case Rest of [R | _] -> list_to_integer(R); [] -> 5 end),
    io:format(standard_error, "# ~s ~s schedulers=~p bindings=~p flavor=~p~n",
              [runtime(), W, erlang:system_info(schedulers),
               erlang:system_info(scheduler_bindings), erlang:system_info(emu_flavor)]),
    Want = case W of "cross" ++ _ -> 2; _ -> 1 end,
    check("schedulers", Want, erlang:system_info(schedulers_online)),
    Want =:= 1 orelse check("bound schedulers", false,
                            lists:member(unbound, tuple_to_list(erlang:system_info(scheduler_bindings)))),
    {Pid, Mon} = spawn_driver(W),
    receive
        {'DOWN', Mon, process, Pid, normal} -> halt(0);
        {'DOWN', Mon, process, Pid, Why} -> fail("driver died", W, Why)
    end.

%% The driver is an actor on the scheduler under test (on scheduler 1 for the cross workloads).
spawn_driver(W) ->
    Reps = get(reps),
    erlang:spawn_opt(fun() -> put(reps, Reps), run(W) end, [monitor | on(W, 1)]).

%% {scheduler, N} binds a process to one scheduler; undocumented, checked by where_am_i/2.
on("cross" ++ _, N) -> [{scheduler, N}];
on(_, _) -> [].

where_am_i("cross" ++ _, N) -> check("scheduler", N, erlang:system_info(scheduler_id));
where_am_i(_, _) -> ok.

run(W) when W =:= "tell_flood"; W =:= "cross_flood" ->
    C = erlang:spawn_opt(fun() -> where_am_i(W, 2), counter(0, 0) end, on(W, 2)),
    measure(W, ?FLOOD_TOTAL, fun() ->
        where_am_i(W, 1),
        check("all", ?FLOOD_TOTAL, flood(C, ?FLOOD_TOTAL div ?BATCH, 0)) end);
run(W) when W =:= "volley"; W =:= "cross_volley" ->
    Hops = case W of "volley" -> ?VOLLEY_HOPS; _ -> ?CROSS_HOPS end,
    P = erlang:spawn_opt(fun() -> where_am_i(W, 2), pong(0) end, on(W, 2)),
    Xs = times(Hops, fun() ->
        where_am_i(W, 1),
        Own = volley(P, Hops div 2, 0),
        P ! {self(), get},
        receive {pong, N} -> check("hops", Hops, Own + N) end end),
    print(W, Xs);
run("ask") ->
    E = spawn(fun echo/0),
    measure("ask", ?ASK_ROUNDS, fun() -> check("rounds", ?ASK_ROUNDS, ask(E, ?ASK_ROUNDS, 0)) end);
run("ask_genserver") ->
    {ok, S} = gen_server:start_link(?MODULE, [], []),
    measure("ask_genserver", ?ASK_ROUNDS,
            fun() -> check("rounds", ?ASK_ROUNDS, ask_gs(S, ?ASK_ROUNDS, 0)) end);
run("ring100") ->
    Me = self(),
    First = spawn(fun() -> ring_wait(Me) end),
    Last = lists:foldl(fun(_, Next) -> spawn(fun() -> ring_node(Next, Me, 0) end) end,
                       First, lists:seq(2, ?RING_SIZE)),
    First ! {next, Last},
    measure("ring100", ?RING_HOPS, fun() ->
        First ! ?RING_HOPS,
        receive ring_done -> ok end,
        First ! {count, ?RING_SIZE},            % every node reports its own hops
        Ns = [receive {hops, N} -> N end || _ <- lists:seq(1, ?RING_SIZE)],
        [check("hops of one node", ?RING_HOPS div ?RING_SIZE, N) || N <- Ns],
        check("hops", ?RING_HOPS, lists:sum(Ns)) end);
run("fanout") ->
    Me = self(),
    Ws = [spawn(fun() -> fan_worker(Me, 0) end) || _ <- lists:seq(1, ?FAN_WORKERS)],
    measure("fanout", ?FAN_ROUNDS * ?FAN_WORKERS, fun() ->
        check("all", ?FAN_ROUNDS * ?FAN_WORKERS, fan(Ws, ?FAN_ROUNDS div ?FAN_BURST, 0)) end);
run("spawn") ->
    A = atomics:new(2, [{signed, false}]),
    Me = self(),
    measure("spawn", ?SPAWN_TOTAL, fun() ->
        {St, Sp} = spawn_batches(A, Me, ?SPAWN_TOTAL div ?SPAWN_BATCH, 0, 0),
        check("started", ?SPAWN_TOTAL, St),
        check("stopped", ?SPAWN_TOTAL, Sp) end);
run("idle_mem") ->
    A = atomics:new(1, [{signed, false}]),
    Me = self(),
    erlang:garbage_collect(),
    P0 = erlang:system_info(process_count),
    Before = rss(),
    spawn_idle(A, Me, ?IDLE_TOTAL),
    receive all_idle -> ok end,
    After = rss(),
    check("idle", ?IDLE_TOTAL, erlang:system_info(process_count) - P0),
    io:format("idle_mem bytes ~.1f~n", [(After - Before) / ?IDLE_TOTAL]);
run(W) ->
    fail("unknown workload", W, none).

%% ---- flood -------------------------------------------------------------------------------------

counter(N, Sum) ->
    receive
        X when is_integer(X) -> counter(N + 1, Sum bxor X);
        {From, get} -> From ! {count, N}, counter(0, Sum)
    end.

flood(_, 0, Got) -> Got;
flood(C, K, Got) ->
    send_n(C, ?BATCH),
    C ! {self(), get},
    receive {count, N} -> check("batch", ?BATCH, N), flood(C, K - 1, Got + N) end.

send_n(_, 0) -> ok;
send_n(C, I) -> C ! I, send_n(C, I - 1).

%% ---- volley ------------------------------------------------------------------------------------

pong(N) ->
    receive
        {From, X} when is_integer(X) -> From ! {self(), X}, pong(N + 1);
        {From, get} -> From ! {pong, N}, pong(0)
    end.

volley(_, 0, Handled) -> Handled;
volley(P, Left, Handled) ->
    P ! {self(), Left},
    receive {P, Left} -> volley(P, Left - 1, Handled + 1) end.

%% ---- ask ---------------------------------------------------------------------------------------

echo() ->
    receive {From, Ref, X} -> From ! {Ref, X}, echo() end.

ask(_, 0, Ok) -> Ok;
ask(E, I, Ok) ->
    Ref = make_ref(),
    E ! {self(), Ref, I},
    receive {Ref, I} -> ask(E, I - 1, Ok + 1) end.

ask_gs(_, 0, Ok) -> Ok;
ask_gs(S, I, Ok) ->
    I = gen_server:call(S, I),
    ask_gs(S, I - 1, Ok + 1).

init([]) -> {ok, 0}.
handle_call(X, _From, S) -> {reply, X, S}.
handle_cast(_, S) -> {noreply, S}.

%% ---- ring --------------------------------------------------------------------------------------

ring_wait(Driver) ->
    receive {next, Next} -> ring_node(Next, Driver, 0) end.

ring_node(Next, Driver, N) ->
    receive
        1 -> Driver ! ring_done, ring_node(Next, Driver, N + 1);
        Left when is_integer(Left) -> Next ! Left - 1, ring_node(Next, Driver, N + 1);
        {count, 0} -> ring_node(Next, Driver, N);
        {count, K} -> Driver ! {hops, N}, Next ! {count, K - 1}, ring_node(Next, Driver, 0)
    end.

%% ---- fan-out -----------------------------------------------------------------------------------

fan_worker(Driver, ?FAN_BURST) -> Driver ! {fan_done, ?FAN_BURST}, fan_worker(Driver, 0);
fan_worker(Driver, N) ->
    receive X when is_integer(X) -> fan_worker(Driver, N + 1) end.

fan(_, 0, Got) -> Got;
fan(Ws, Bursts, Got) ->
    burst(Ws, ?FAN_BURST),
    fan(Ws, Bursts - 1, Got + collect(?FAN_WORKERS, 0)).

burst(_, 0) -> ok;
burst(Ws, R) -> each(Ws, R), burst(Ws, R - 1).

each([W | T], X) -> W ! X, each(T, X);
each([], _) -> ok.

collect(0, Sum) -> Sum;
collect(K, Sum) -> receive {fan_done, N} -> collect(K - 1, Sum + N) end.

%% ---- spawn and idle memory ---------------------------------------------------------------------

life(A, Driver) ->
    case atomics:add_get(A, 1, 1) of ?SPAWN_BATCH -> Driver ! all_started; _ -> ok end,
    receive stop -> ok end,
    case atomics:add_get(A, 2, 1) of ?SPAWN_BATCH -> Driver ! all_stopped; _ -> ok end.

spawn_batches(_, _, 0, St, Sp) -> {St, Sp};
spawn_batches(A, Me, K, St, Sp) ->
    atomics:put(A, 1, 0),
    atomics:put(A, 2, 0),
    Ps = [spawn(fun() -> life(A, Me) end) || _ <- lists:seq(1, ?SPAWN_BATCH)],
    receive all_started -> ok end,
    St1 = St + atomics:get(A, 1),
    each(Ps, stop),
    receive all_stopped -> ok end,
    spawn_batches(A, Me, K - 1, St1, Sp + atomics:get(A, 2)).

spawn_idle(_, _, 0) -> ok;
spawn_idle(A, Me, I) ->
    spawn(fun() ->
        case atomics:add_get(A, 1, 1) of ?IDLE_TOTAL -> Me ! all_idle; _ -> ok end,
        receive stop -> ok end end),
    spawn_idle(A, Me, I - 1).

rss() ->
    {ok, B} = file:read_file("/proc/self/status"),
    {match, [Kb]} = re:run(B, "VmRSS:\\s*([0-9]+)", [{capture, all_but_first, list}]),
    list_to_integer(Kb) * 1024.

%% ---- measuring ---------------------------------------------------------------------------------

measure(W, Ops, F) -> print(W, times(Ops, F)).

times(Ops, F) ->
    _ = once(Ops, F),
    [once(Ops, F) || _ <- lists:seq(1, get(reps))].

once(Ops, F) ->
    T0 = erlang:monotonic_time(nanosecond),
    F(),
    (erlang:monotonic_time(nanosecond) - T0) / Ops.

print(W, Xs) ->
    io:format("~s ns~s~n", [W, [io_lib:format(" ~.1f", [X]) || X <- Xs]]).

runtime() -> "erlang-otp" ++ erlang:system_info(otp_release).

check(_, Want, Want) -> ok;
check(What, Want, Got) -> fail(What, Want, Got).

fail(What, Want, Got) ->
    io:format("FAIL ~s: ~s: sent ~p, handled ~p~n", [runtime(), What, Want, Got]),
    halt(1).
