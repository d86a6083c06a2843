import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { PageRoot } from "./page-root.tsx";
import "./styles/index.css";

const place = document.getElementById("app");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <PageRoot />
    </StrictMode>,
  );
}
