import { z } from "zod";

/** Parameters of a route below one session. An invalid id is answered like that of a session that does not exist. */
export interface SessionParams {
  readonly id: string;
}

export const sessionParams: z.ZodType<SessionParams> = z.object({ id: z.string() });
