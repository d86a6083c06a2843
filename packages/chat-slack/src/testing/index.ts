export { type FakeSlack, fakeSlack, type SlackPerson, type SlackTyped } from "./fake-slack.ts";
export type { SentInSlack } from "./fake-workspace.ts";
