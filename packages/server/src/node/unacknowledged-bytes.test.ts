import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { queuesIn } from "./unacknowledged-bytes.ts";

const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const table = `${head}
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 000000A8:00000000 01:00000014 00000001     0        0 2 2 0 20 4 30 10 -1
   2: 0200007F:1F90 0100007F:C351 01 00000010:00000000 01:00000014 00000001     0        0 2 2 0 20 4 30 10 -1
${head}
   0: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C351 01 00000000:00000000 00:00000000 00000000 0 0 1 1 0
`;
const socket = (remotePort: number): Socket => ({ localPort: 8080, remotePort }) as Socket;

it("what is not acknowledged is read from the tables of the kernel, of both kinds of addresses", () => {
  const unacknowledged = queuesIn(table);
  expect(unacknowledged(socket(50_000))).toBe(0xa8);
  // Two connections with the same ports: none is taken for silent by what the other one lacks.
  expect(unacknowledged(socket(50_001))).toBe(0);
  expect(unacknowledged(socket(50_002))).toBeUndefined();
});
