export type {
  SessionView,
  ViewAnswer,
  ViewCall,
  ViewEnd,
  ViewMessage,
  ViewPart,
  ViewProgress,
  ViewRun,
} from "./view/session-view.ts";
