/** What has been tried where a goal is missed, by the beginning of the scene's id. Measured on the way; the newest figures are in the table. */
export const tried: Readonly<Record<string, string>> = {
  protocols: `A mapping reads its run by the client, whose requests reach the server in process: one path for authentication, \`authorize\`, limits and logs. So an
event is encoded by the server, parsed by the client, mapped and encoded again, and its frame goes through a web stream, where our own stream writes an event once. In the profiles writing to sockets is
26 to 38 % (as in our own stream), the server 6 to 16 %, core 14 %, the client 8 %, web streams 5 %; the mappings themselves are 2 to 3 %. What is left to do: give routes of an application the
events of a stream as values, behind the same checks, and their frames the sink of our own streams. MCP adds its SDK to a run, which the bare handler does not have.`,
  loop: `Without the driver, a loop by hand on the provider of \`providers-openai\` takes 0.75 to 0.81 of the SDK's CPU a turn at 10 turns,
over global fetch. The driver adds two decisions a turn: about 120 µs in a hot
process with nothing else in it (two appends, five facts, twenty events), 200 µs and more between system calls, garbage included.
Done: random bytes of ids drawn for many at once, no list of keys where two states are compared, regular expressions made once (driver
alone 150 to 120 µs a turn); items and JSON of a conversation kept from request to request, a long history copied once instead of three
times (a turn of 1,000: 2.3 to 1.5 ms). User code is waited for only where there is some, so a turn
without hooks sets no timer of its own; states and events are copied once a fact (driver alone 190 to 145 µs in another measure).
What is left is flat: no line of the driver takes over 3 % of it.`,
  concurrent: `The cost of a run is that of two turns in a process too crowded to stay hot, a session, a store and a lease.
What a run allocates, keeps and sets, counted in one process before and after (commits 8cd75d6 and 4548dc6, session in memory; over fetch, over
\`nodeHttp()\`): allocated 830 to 930 / 800 to 850 KB, now 680 to 760 / 610 to 650; what outlives two scavenges 180 / 121 KB, now 144 / 106; alive while
all wait for their first answer 66 / 55 KB, now 52 / 44 (fetch by hand: 26); timers 16 to 24, now 6; promises 573 / 439, now 529 / 395; peak 370 / 300 MB, now
346 / 282 (SDK by hand in the same minutes: 300; fetch by hand: 260). Step by step over fetch: pieces of an answer are looked at without copies, ids
are written in one piece, a decision without user code waits for nothing, no copy of the state for each fact, the memory store's order is made when it is
asked for (allocated 880 to 790 KB); a private store has no renewals, watches, drafts and deadlines (790 to 740 KB, timers 24 to 7, outliving
170 to 155 KB); model calls, lanes, watchdogs and readers' buffers are objects of classes, not nests of closures, and deltas without a subscriber are no events
(outliving 158 to 146 KB); index, blobs and drafts of a session in memory are made when asked for (not measured alone).
What is left over fetch: of 140 KB that outlive two scavenges some 77 are Node.js's fetch and its streams, of which about 14 are the copy that
it makes of every request whose \`redirect\` is not \`error\`; 43 the driver, 20 the provider. Sessions of a shared store keep their lease's timers.`,
  "http-first-token": `On a busy machine (load 4 to 6 on 2 cores) the 99th percentile was 1.18 of an SDK whose own lay 70 ms over its median; on
a quiet one it is as above.`,
  "http-crowd": `With \`nodeHttp()\` the rounds lie on both sides of the goal, 1.42 to 1.59. They were measured while an execution still listened to its
session a second time for its first words; the feed lends its own listener since, which has not been measured.`,
  young: `Before anything was mended, on a busy machine, a turn of a loop of 10 took 1.49 of the SDK over fetch, the crowd 1.33 and 414 MB. Done: \`node:http\`
is the default transport on Node.js; the end of a session or a body makes no error with its stack where nothing waits for one (the crowd by default 0.89 to
0.80 in interleaved minima of 3); address and headers are built by the SDK once a client (7 to 9 % of a hot turn);
the list of tools and its text are made once, the history's texts in one walk; classes stand in place of object literals with getters, which
V8 keeps as slow dictionaries of 700 bytes (3.6 µs against 0.4 µs in the interpreter; peak of the crowd: 400 to 375 MB, 340 to 325 MB).
What was left then was the driver: about 80 KB of the 180 KB that outlived two scavenges in a run of the crowd, and the timers, promises and abort
controllers of a turn; "concurrent" above shows the result of that. No line of it takes over 4 %.
Later: the driver decides once per batch (it decided again after each, for nothing), prepares without promises where no user code is asked, and a
session without a store has a log without an index: a run of two turns allocates 193 KB in place of 221 KB, a session 6.9 KB in place of 8.3 KB.
Measured beside one another on a machine with a load of 22 to 30, medians of 3: a turn of a loop of 100 and 400 takes 1.23 / 1.01 and 1.15 / 0.82, the
crowd 1.19 / 1.08, its peak 344 / 289 MB beside the SDK's 310.`,
  parallel: `Fifty timers end in fifty callbacks, so fifty results were fifty decisions, each a batch of its own. Now what ends in
the same moment is decided on together, one turn of the event loop later (53 appends to 5; the ratio 1.63 to 1.5), and a tool
without a gate and with a synchronous schema is prepared without a promise. What is left is what a call costs by itself: its intent and its
closing fact, six events, a time limit and a signal.`,
};
