import { type Job, textOfJob } from "../world/job.ts";
import { post } from "../world/people/post.ts";

/** Opens the session of the job's name where it is not open yet, and asks there for the job. @throws Error where no node accepts */
export async function sayJob(pick: () => string, session: string, job: Job): Promise<void> {
  const opened = await post({ pick, path: "/api/sessions", body: { id: session }, key: `open-${session}` });
  const said = await post({ pick, path: `/api/sessions/${session}/messages`, body: { message: textOfJob(job) }, key: `say-${job.id}` });
  if ((opened?.status ?? 599) >= 300 || (said?.status ?? 599) >= 300)
    throw new Error(`${session} was not begun: ${opened?.status}, ${said?.status} ${JSON.stringify(said?.body).slice(0, 200)}`);
}
