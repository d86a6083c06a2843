import type { ViewRun } from "@loopwright/client";
import { createContext } from "react";

/** The children of the open run that wait for people. */
export const WaitingAgentsContext = createContext<NonNullable<ViewRun["waitingAgents"]>>([]);
