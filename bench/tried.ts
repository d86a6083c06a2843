/** What has been tried where a goal is missed, by the beginning of the scene's id. Measured on the way; the newest figures are in the table. */
export const tried: Readonly<Record<string, string>> = {
  loop: `Without the driver, a loop by hand on the provider of \`providers-openai\` takes 0.75 to 0.81 of the SDK's CPU a turn at 10 turns,
over global fetch. The driver adds two decisions a turn: about 120 µs in a hot
process with nothing else in it (two appends, five facts, twenty events), 200 µs and more between system calls, garbage included.
Done: random bytes of ids drawn for many at once, no list of keys where two states are compared, regular expressions made once (driver
alone 150 to 120 µs a turn); items and JSON of a conversation kept from request to request, a long history copied once instead of three
times (a turn of 1,000: 2.3 to 1.5 ms). What is left is flat: no line of the driver takes over 3 % of it.`,
  concurrent: `The cost of a run is that of two turns in a process too crowded to stay hot, a session, a store and a lease.
Nothing was tried yet against its memory; over \`nodeHttp()\` the peak is a sixth lower than over global fetch.`,
  parallel: `Fifty timers end in fifty turns of the event loop, so fifty results become fifty decisions, each a batch of its own.
Tried and not kept: waiting one millisecond for other results of the turn (1.65 to 1.4). It needs a yield to the event loop in the clock
port, because a manual clock would have to be moved for every result.`,
};
