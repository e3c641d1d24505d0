// Formulas without a network: the little TeX that these pages use, turned into MathML, which browsers draw themselves.
"use strict";
(() => {
  const SYMBOLS = {
    epsilon: "ε", delta: "δ", in: "∈", le: "≤", ne: "≠", cdot: "·", mid: "|", top: "⊤", sum: "∑", prod: "∏",
    alpha: "α", lambda: "λ", mu: "μ", pi: "π", sigma: "σ", theta: "θ", ge: "≥", times: "×", to: "→", infty: "∞",
    ldots: "…", dots: "…", cup: "∪", cap: "∩", sim: "∼", approx: "≈", setminus: "∖", notin: "∉", log: "log", max: "max",
    min: "min", exp: "exp", Pr: "Pr", "{": "{", "}": "}",
  };
  const LETTERS = new Set(["epsilon", "delta", "alpha", "lambda", "mu", "pi", "sigma", "theta", "infty"]);
  const UNDER = new Set(["sum", "prod", "max", "min"]);
  const SPACES = { ",": "0.17em", ";": "0.28em", " ": "0.3em", quad: "1em", qquad: "2em" };
  const SPACE = (width) => `<mspace width="${width}"/>`;
  const safe = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function parser(source, display) {
    const tokens = source.match(/\\[a-zA-Z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|[^\s]/gu) || [];
    let at = 0;
    const skip = () => { while (at < tokens.length && /^\s/.test(tokens[at])) at += 1; };
    const plain = () => {  // the text between two braces, as it stands
      skip();
      let depth = 0, text = "";
      do {
        const token = tokens[at++];
        depth += (token === "{") - (token === "}");
        if (!(token === "{" && depth === 1) && depth > 0) text += token;
      } while (depth > 0 && at < tokens.length);
      return text;
    };
    function atom() {
      skip();
      const token = tokens[at++];
      if (token === undefined) return "";
      if (token === "{") return `<mrow>${row("}")}</mrow>`;
      if (/^[0-9]/.test(token)) return `<mn>${token}</mn>`;
      if (/^\p{L}$/u.test(token)) return `<mi>${token}</mi>`;
      if (!token.startsWith("\\")) return `<mo${/[()[\]|]/.test(token) ? ' stretchy="false"' : ""}>${safe(token)}</mo>`;
      const name = token.slice(1);
      if (name === "frac") return `<mfrac>${atom()}${atom()}</mfrac>`;
      if (name === "sqrt") return `<msqrt>${atom()}</msqrt>`;
      if (name === "text") return `<mtext>${safe(plain()).replace(/^ | $/g, "\u00a0")}</mtext>`;
      if (name === "mathrm" || name === "operatorname") return `<mi mathvariant="normal">${safe(plain())}</mi>`;
      if (name === "left" || name === "right") { skip(); return `<mo stretchy="true">${safe(tokens[at++])}</mo>`; }
      if (name in SPACES) return SPACE(SPACES[name]);
      if (!(name in SYMBOLS)) return `<mtext>${safe(token)}</mtext>`;
      return LETTERS.has(name) ? `<mi>${SYMBOLS[name]}</mi>` : `<mo>${SYMBOLS[name]}</mo>`;
    }
    function scripted() {
      skip();
      const limits = display && UNDER.has((tokens[at] || "").slice(1));
      const base = atom();
      let low = "", high = "";
      for (skip(); tokens[at] === "_" || tokens[at] === "^"; skip()) {
        if (tokens[at++] === "_") low = atom(); else high = atom();
      }
      const tag = limits ? ["munderover", "munder", "mover"] : ["msubsup", "msub", "msup"];
      if (low && high) return `<${tag[0]}>${base}${low}${high}</${tag[0]}>`;
      if (low) return `<${tag[1]}>${base}${low}</${tag[1]}>`;
      return high ? `<${tag[2]}>${base}${high}</${tag[2]}>` : base;
    }
    function row(end) {
      let out = "";
      for (skip(); at < tokens.length && tokens[at] !== end; skip()) out += scripted();
      at += 1;
      return out;
    }
    return row();
  }

  function draw() {
    for (const place of document.querySelectorAll(".arithmatex")) {
      const source = place.textContent.trim();
      const display = source.startsWith("\\[");
      if (!display && !source.startsWith("\\(")) continue;
      const inner = parser(source.slice(2, -2), display);
      place.innerHTML = `<math display="${display ? "block" : "inline"}"><mrow>${inner}</mrow></math>`;
    }
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", draw);
  else draw();
})();
