import { type Job, textOfJob } from "../world/job.ts";
import { post } from "../world/people/post.ts";

/** Creates the session named after the job if it does not exist, and sends the job to it. @throws Error when no node accepts it */
export async function sayJob(pick: () => string, session: string, job: Job): Promise<void> {
  const opened = await post({ pick, path: "/api/sessions", body: { id: session }, key: `open-${session}` });
  const written = await post({ pick, path: `/api/sessions/${session}/messages`, body: { message: textOfJob(job) }, key: `say-${job.id}` });
  if ((opened?.status ?? 599) >= 300 || (written?.status ?? 599) >= 300)
    throw new Error(`${session} was not begun: ${opened?.status}, ${written?.status} ${JSON.stringify(written?.body).slice(0, 200)}`);
}
