import type { WaitingInput } from "@loopwright/core/protocol";

/** Those that join the open run come first, then those that interrupt it, then the others. */
const rankOf = ({ mode }: Pick<WaitingInput, "mode">): number => (mode === "steer" ? 0 : mode === "interrupt" ? 1 : 2);

/** The inputs that wait, in the order in which they are answered. */
export const inTurn = (waiting: readonly WaitingInput[]): readonly WaitingInput[] => waiting.toSorted((a, b) => rankOf(a) - rankOf(b));
