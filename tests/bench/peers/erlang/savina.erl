%% SPDX-License-Identifier: MIT
%% The Savina suite on Erlang/OTP 25: the same plays as tests/bench/savina/.  One VM = one play.
%%   erl +S L:L -noinput -pa DIRECTORY -run savina main PLAY L N REPETITIONS RESULT OPERATIONS
%% RESULT and OPERATIONS are what `savina expect PLAY n=N` prints.
%% stdout: "PLAY/L ns value value ...", a value per repetition after a warm-up.
-module(savina).
-export([main/1]).

-define(WORKERS, 60).                                   % fork-join
-define(MEMBERS, 100).                                  % thread ring
-define(CREATURES, 100).
-define(NEIGHBOURS, 120).
-define(PRODUCERS, 40).
-define(CONSUMERS, 40).
-define(BUFFER, 50).
-define(PHILOSOPHERS, 20).
-define(ACCOUNTS, 200).
-define(PAYERS, 160).
-define(AMOUNT_MAX, 1000).
-define(PRIMES, 10).                                    % of a filter
-define(QUEEN_WORKERS, 20).
-define(ALONE, 3).

main([Play, Loops | Numbers]) ->
    [N, Repetitions, Result, Operations] = [list_to_integer(X) || X <- Numbers],
    check("schedulers", list_to_integer(Loops), erlang:system_info(schedulers_online)),
    Lap = fun() -> lap(Play, N, Result, Operations) end,
    Lap(),
    Xs = [Lap() || _ <- lists:seq(1, Repetitions)],
    io:format("~s/~s ns~s~n", [Play, Loops, [io_lib:format(" ~.3f", [X]) || X <- Xs]]),
    halt(0).

%% A play is given by its master, who makes all other actors. When they have ended it is over.
lap(Play, N, Result, Operations) ->
    Driver = self(),
    Before = erlang:system_info(process_count),
    T0 = erlang:monotonic_time(nanosecond),
    {Master, Monitor} = spawn_monitor(fun() ->
        {R, O} = play(Play, N),
        Driver ! {report, self(), R, O},
        receive stop -> exit(shutdown) end end),
    Ns = receive
        {report, Master, R, O} ->
            T1 = erlang:monotonic_time(nanosecond),
            check(Play, Result, R),
            check("operations", Operations, O),
            (T1 - T0) / O;
        {'DOWN', Monitor, process, Master, Why} -> fail("master", "no end", Why)
    end,
    Master ! stop,
    receive {'DOWN', Monitor, process, Master, _} -> ok end,
    ended(Before),
    Ns.

ended(Before) ->
    case erlang:system_info(process_count) > Before of
        true -> receive after 1 -> ended(Before) end;
        false -> ok
    end.

play("ping_pong", N) ->
    Pong = spawn_link(fun() -> pong(0) end),
    ping(Pong, 0, N);
play("counting", N) ->
    Counter = spawn_link(fun() -> counter(0, 0) end),
    each(fun(I) -> Counter ! I end, 1, N),
    Counter ! {query, self()},
    receive {sum, Sum, Count} -> {Sum, Count} end;
play("fork_join_throughput", N) ->
    Me = self(),
    Workers = [spawn_link(fun() -> worker(Me, N, 0, 0) end) || _ <- lists:seq(1, ?WORKERS)],
    each(fun(K) -> tell_all(Workers, K) end, 1, N),
    join(?WORKERS, 0, 0);
play("fork_join_create", N) ->
    Me = self(),
    each(fun(I) -> spawn(fun() -> receive X -> Me ! {sum, X, 1} end end) ! I end, 1, N),
    join(N, 0, 0);
play("thread_ring", N) ->
    Me = self(),
    Members = [First | _] = lists:foldl(fun(I, Made) ->
        Next = case Made of [] -> none; [M | _] -> M end,
        [spawn_link(fun() -> member(Next, Me, I, 0) end) | Made] end, [],
        lists:seq(?MEMBERS, 1, -1)),
    lists:last(Members) ! {link, First},
    receive linked -> ok end,
    First ! N,
    receive last -> ok end,
    tell_all(Members, query),
    lists:foldl(fun(_, {R, O}) -> receive {hops, I, Hops} -> {R + I * Hops, O + Hops} end end,
                {0, 0}, Members);
play("chameneos", N) ->
    Me = self(),
    each(fun(I) ->
        spawn_link(fun() -> Me ! {meet, self(), I rem 3}, creature(Me, I rem 3, 0) end)
    end, 0, ?CREATURES - 1),
    mall(none, N, 0, 0, N);
play("big", N) ->
    Me = self(),
    All = [spawn_link(fun() -> receive {neighbours, T} ->
        neighbour(neighbour_ping(T, I), T, Me, N, 0, 0) end end)
        || I <- lists:seq(1, ?NEIGHBOURS)],
    tell_all(All, {neighbours, list_to_tuple(All)}),
    [receive finished -> ok end || _ <- All],
    tell_all(All, query),
    {Ponged, Pinged} = lists:foldl(fun(_, {A, B}) ->
        receive {count, X, Y} -> {A + X, B + Y} end end, {0, 0}, All),
    {Pinged, Ponged + Pinged};
play("bounded_buffer", N) ->
    Me = self(),
    Consumers = [spawn_link(fun() -> consumer(Me) end) || _ <- lists:seq(1, ?CONSUMERS)],
    Producers = [spawn_link(fun() -> producer(Me, I, N) end) || I <- lists:seq(1, ?PRODUCERS)],
    tell_all(Producers, wanted),
    manager(queue:new(), queue:from_list(Consumers), ?CONSUMERS, queue:new(), 0, 0, 0, 0);
play("philosophers", N) ->
    Me = self(),
    tell_all([spawn_link(fun() -> philosopher(I, N, Me, 0, 0) end)
              || I <- lists:seq(1, ?PHILOSOPHERS)], start),
    arbiter(erlang:make_tuple(?PHILOSOPHERS, free), 0, 0, 0, 0, 0);
play("banking", N) ->
    Me = self(),
    All = [spawn_link(fun() -> account(Me, I, ?AMOUNT_MAX * N, #{}) end)
           || I <- lists:seq(1, ?ACCOUNTS)],
    transfers(list_to_tuple(All), 1, N),
    each(fun(_) -> receive made -> ok end end, 1, N),
    tell_all(All, query),
    {lists:foldl(fun(_, R) -> receive {balance, I, B} -> R + I * B end end, 0, All), 4 * N};
play("sieve", N) ->
    Me = self(),
    First = spawn_link(fun() -> filter(Me, none, 0, 1, [2]) end),
    odd(First, 3, N),
    First ! {'end', 0, 0},
    receive {'end', Primes, Numbers} -> {Primes, Numbers} end;
play("fibonacci", N) ->
    node_child(N),
    receive {answer, Sum, Actors} -> {Sum, Actors} end;
play("nqueens", N) ->
    Me = self(),
    Workers = list_to_tuple([spawn_link(fun() -> queens(Me, N) end)
                             || _ <- lists:seq(1, ?QUEEN_WORKERS)]),
    element(1, Workers) ! {board, 0, []},
    queens_master(Workers, 1, 0, 0, 0).

%% ---- ping-pong, counting, fork-join ----------------------------------------------------------

pong(Pings) ->
    receive {ping, From, Pings} -> From ! {pong, Pings + 1}, pong(Pings + 1);
            {ping, _, Other} -> fail("number of a ping", Pings, Other) end.

ping(Pong, I, N) ->
    Pong ! {ping, self(), I},
    Want = I + 1,
    receive
        {pong, Want} when Want < N -> ping(Pong, Want, N);
        {pong, Want} -> {Want, 2 * Want};
        {pong, Other} -> fail("number of a pong", Want, Other)
    end.

counter(Sum, Count) ->
    receive
        I when is_integer(I) -> counter(Sum + I, Count + 1);
        {query, From} -> From ! {sum, Sum, Count}, counter(Sum, Count)
    end.

worker(Master, N, Sum, N) -> Master ! {sum, Sum, N}, worker(Master, N, Sum, N + 1);
worker(Master, N, Sum, Count) -> receive I -> worker(Master, N, Sum + I, Count + 1) end.

join(0, Sum, Count) -> {Sum, Count};
join(Left, Sum, Count) -> receive {sum, S, C} -> join(Left - 1, Sum + S, Count + C) end.

%% ---- thread ring, chameneos, big -------------------------------------------------------------

member(Next, Master, I, Hops) ->
    receive
        1 -> Master ! last, member(Next, Master, I, Hops + 1);
        Left when is_integer(Left) -> Next ! Left - 1, member(Next, Master, I, Hops + 1);
        {link, First} -> Master ! linked, member(First, Master, I, Hops);
        query -> Master ! {hops, I, Hops}, member(Next, Master, I, Hops)
    end.

creature(Mall, Colour, Meetings) ->
    receive
        {meet, Who, Other} ->
            Mine = case Other of Colour -> Colour; _ -> 3 - Colour - Other end,
            Who ! {change, Mine},
            Mall ! {meet, self(), Mine},
            creature(Mall, Mine, Meetings + 1);
        {change, Mine} ->
            Mall ! {meet, self(), Mine},
            creature(Mall, Mine, Meetings + 1);
        fade -> Mall ! {meetings, Meetings}, creature(Mall, Colour, Meetings)
    end.

mall(_, Left, Meetings, ?CREATURES, N) -> {Meetings, 4 * (N - Left)};
mall(Waiting, Left, Meetings, Faded, N) ->
    receive
        {meet, Who, _} when Left =:= 0 -> Who ! fade, mall(none, 0, Meetings, Faded, N);
        {meet, Who, _} when Waiting =:= none -> mall(Who, Left, Meetings, Faded, N);
        {meet, _, _} = Visit -> Waiting ! Visit, mall(none, Left - 1, Meetings, Faded, N);
        {meetings, M} -> mall(Waiting, Left, Meetings + M, Faded + 1, N)
    end.

neighbour_ping(All, Random) ->
    Next = random_next(Random),
    Target = element(Next rem ?NEIGHBOURS + 1, All),
    Target ! {ping, self()},
    {Target, Next}.

neighbour({Target, Random} = Out, All, Sink, N, Ponged, Pinged) ->
    receive
        {ping, From} -> From ! {pong, self()}, neighbour(Out, All, Sink, N, Ponged, Pinged + 1);
        {pong, Target} when Ponged + 1 < N ->
            neighbour(neighbour_ping(All, Random), All, Sink, N, Ponged + 1, Pinged);
        {pong, Target} -> Sink ! finished, neighbour(Out, All, Sink, N, Ponged + 1, Pinged);
        {pong, Other} -> fail("sender of a pong", Target, Other);
        query -> Sink ! {count, Ponged, Pinged}, neighbour(Out, All, Sink, N, Ponged, Pinged)
    end.

%% ---- bounded buffer, philosophers ------------------------------------------------------------

producer(Manager, Random, Left) ->
    receive wanted -> ok end,
    case Left of
        0 -> Manager ! finished;
        _ ->
            Item = random_next(Random),
            Manager ! {item, self(), Item},
            producer(Manager, Item, Left - 1)
    end.

consumer(Manager) ->
    receive {item, Item} -> Manager ! {consumed, self(), Item}, consumer(Manager) end.

%% Producers and consumers that wait, items that wait; C and I are how many.
manager(_, _, ?CONSUMERS, _, 0, ?PRODUCERS, Sum, Consumed) -> {Sum, 4 * Consumed};
manager(Ps, Cs, C, Is, I, Finished, Sum, Consumed) ->
    receive
        {item, P, Item} when C > 0 ->
            {{value, To}, Rest} = queue:out(Cs),
            To ! {item, Item},
            manager_wants(P, Ps, Rest, C - 1, Is, I, Finished, Sum, Consumed);
        {item, _, _} when I =:= ?BUFFER -> fail("items that wait", ?BUFFER, I + 1);
        {item, P, Item} ->
            manager_wants(P, Ps, Cs, C, queue:in(Item, Is), I + 1, Finished, Sum, Consumed);
        {consumed, From, Item} when I =:= 0 ->
            manager(Ps, queue:in(From, Cs), C + 1, Is, I, Finished, Sum + Item, Consumed + 1);
        {consumed, From, Item} ->
            {{value, Next}, Left} = queue:out(Is),
            From ! {item, Next},
            Waiting = case queue:out(Ps) of
                {{value, P}, Rest} -> P ! wanted, Rest;
                {empty, Empty} -> Empty
            end,
            manager(Waiting, Cs, C, Left, I - 1, Finished, Sum + Item, Consumed + 1);
        finished -> manager(Ps, Cs, C, Is, I, Finished + 1, Sum, Consumed)
    end.

manager_wants(P, Ps, Cs, C, Is, I, Finished, Sum, Consumed) when I < ?BUFFER - ?PRODUCERS ->
    P ! wanted,
    manager(Ps, Cs, C, Is, I, Finished, Sum, Consumed);
manager_wants(P, Ps, Cs, C, Is, I, Finished, Sum, Consumed) ->
    manager(queue:in(P, Ps), Cs, C, Is, I, Finished, Sum, Consumed).

philosopher(I, N, Arbiter, Meals, Denials) ->
    receive
        eat ->
            Arbiter ! {done, I},
            case Meals + 1 of
                N -> Arbiter ! {exit, N, Denials};
                _ -> self() ! start
            end,
            philosopher(I, N, Arbiter, Meals + 1, Denials);
        start -> Arbiter ! {hungry, self(), I}, philosopher(I, N, Arbiter, Meals, Denials);
        denied -> Arbiter ! {hungry, self(), I}, philosopher(I, N, Arbiter, Meals, Denials + 1)
    end.

arbiter(_, Denials, Meals, Eaten, Heard, ?PHILOSOPHERS) ->
    check("denials", Denials, Heard),
    {Eaten, Meals};
arbiter(Forks, Denials, Meals, Eaten, Heard, Gone) ->
    receive
        {hungry, From, I} ->
            Right = I rem ?PHILOSOPHERS + 1,
            case element(I, Forks) =:= free andalso element(Right, Forks) =:= free of
                true ->
                    From ! eat,
                    Taken = setelement(Right, setelement(I, Forks, I), I),
                    arbiter(Taken, Denials, Meals, Eaten, Heard, Gone);
                false -> From ! denied, arbiter(Forks, Denials + 1, Meals, Eaten, Heard, Gone)
            end;
        {done, I} ->
            Right = I rem ?PHILOSOPHERS + 1,
            check("holder of a fork", {I, I}, {element(I, Forks), element(Right, Forks)}),
            Laid = setelement(Right, setelement(I, Forks, free), free),
            arbiter(Laid, Denials, Meals + 1, Eaten, Heard, Gone);
        {exit, M, D} -> arbiter(Forks, Denials, Meals, Eaten + M, Heard + D, Gone + 1)
    end.

%% ---- banking ---------------------------------------------------------------------------------

transfers(_, _, 0) -> ok;
transfers(All, Random, Left) ->
    A = random_next(Random),
    B = random_next(A),
    C = random_next(B),
    From = A rem ?PAYERS,
    To = From + 1 + C rem (?ACCOUNTS - From - 1),
    element(From + 1, All) ! {credit, element(To + 1, All), 1 + B rem ?AMOUNT_MAX},
    transfers(All, C, Left - 1).

%% An ask is a reference that its answer carries; meanwhile the account goes on.
account(Teller, I, Balance, Asked) ->
    receive
        {credit, To, Amount} ->
            Ref = make_ref(),
            To ! {debit, self(), Ref, Amount},
            account(Teller, I, Balance - Amount, Asked#{Ref => true});
        {debit, From, Ref, Amount} ->
            From ! {taken, Ref},
            account(Teller, I, Balance + Amount, Asked);
        {taken, Ref} ->
            {true, Rest} = maps:take(Ref, Asked),
            Teller ! made,
            account(Teller, I, Balance, Rest);
        query -> Teller ! {balance, I, Balance}, account(Teller, I, Balance, Asked)
    end.

%% ---- sieve, fibonacci, n-queens --------------------------------------------------------------

odd(First, I, N) when I < N -> First ! I, odd(First, I + 2, N);
odd(_, _, _) -> ok.

filter(Master, Next, Numbers, Count, Primes) ->
    receive
        I when is_integer(I) ->
            case divided(I, Primes) of
                true -> filter(Master, Next, Numbers + 1, Count, Primes);
                false when Next =/= none ->
                    Next ! I,
                    filter(Master, Next, Numbers + 1, Count, Primes);
                false when Count < ?PRIMES ->
                    filter(Master, none, Numbers + 1, Count + 1, Primes ++ [I]);
                false ->
                    New = spawn_link(fun() -> filter(Master, none, 0, 1, [I]) end),
                    filter(Master, New, Numbers + 1, Count, Primes)
            end;
        {'end', P, Ns} ->
            To = case Next of none -> Master; _ -> Next end,
            To ! {'end', P + Count, Ns + Numbers},
            filter(Master, Next, Numbers, Count, Primes)
    end.

divided(_, []) -> false;
divided(I, [P | _]) when I rem P =:= 0 -> true;
divided(I, [_ | Rest]) -> divided(I, Rest).

node_child(N) ->
    Parent = self(),
    spawn(fun() -> node_start(Parent) end) ! {request, N}.

node_start(Parent) ->
    receive
        {request, N} when N =< 2 -> Parent ! {answer, 1, 1};
        {request, N} ->
            node_child(N - 1),
            node_child(N - 2),
            {A, M} = receive {answer, S1, C1} -> {S1, C1} end,
            {B, K} = receive {answer, S2, C2} -> {S2, C2} end,
            Parent ! {answer, A + B, M + K + 1}
    end.

%% A board is the number of queens and their rows, the newest first.
queens(Master, N) ->
    receive {board, Placed, Rows} -> queens(Master, N, Placed, Rows) end,
    Master ! done,
    queens(Master, N).

queens(Master, N, Placed, Rows) when Placed + ?ALONE >= N -> alone(Master, N, Placed, Rows);
queens(Master, N, Placed, Rows) ->
    each(fun(Row) ->
        case allowed(Row, Rows, 1) of
            true -> Master ! {board, Placed + 1, [Row | Rows]};
            false -> ok
        end end, 0, N - 1).

alone(Master, N, N, _) -> Master ! solution;
alone(Master, N, Placed, Rows) ->
    each(fun(Row) ->
        case allowed(Row, Rows, 1) of
            true -> alone(Master, N, Placed + 1, [Row | Rows]);
            false -> ok
        end end, 0, N - 1).

allowed(_, [], _) -> true;
allowed(Row, [R | _], D) when R =:= Row; R + D =:= Row; Row + D =:= R -> false;
allowed(Row, [_ | Rest], D) -> allowed(Row, Rest, D + 1).

queens_master(_, Sent, Came, Sent, Solutions) -> {Solutions, Sent + Came + Sent + Solutions};
queens_master(Workers, Sent, Came, Done, Solutions) ->
    receive
        {board, _, _} = Board ->
            element(Sent rem ?QUEEN_WORKERS + 1, Workers) ! Board,
            queens_master(Workers, Sent + 1, Came + 1, Done, Solutions);
        solution -> queens_master(Workers, Sent, Came, Done, Solutions + 1);
        done -> queens_master(Workers, Sent, Came, Done + 1, Solutions)
    end.

%% ---- what they share -------------------------------------------------------------------------

%% The generator of Park and Miller.
random_next(X) -> X * 16807 rem 2147483647.

each(F, I, N) when I =< N -> F(I), each(F, I + 1, N);
each(_, _, _) -> ok.

tell_all([To | Rest], What) -> To ! What, tell_all(Rest, What);
tell_all([], _) -> ok.

check(_, Want, Want) -> ok;
check(What, Want, Got) -> fail(What, Want, Got).

fail(What, Want, Got) ->
    io:format("FAIL erlang ~s: ~p instead of ~p~n", [What, Got, Want]),
    halt(1).
