/// How a report looks: in light and in dark, on a phone, and on paper.
enum ReportStyle {
    /// The colours have a contrast of 4.5 to 1 at least to what is behind them (WCAG 2, AA).
    static let sheet: StaticString = """
        :root { color-scheme: light dark; --back: #ffffff; --card: #f5f7f9; --text: #1b1f24;
          --soft: #535d68; --line: #d5dbe1; --good: #1a7f37; --bad: #b3261e; --open: #8a5a00;
          --rest: #6b7683; --accent: #0b57d0; --fill: #d6e4fb; }
        @media (prefers-color-scheme: dark) { :root { --back: #13171c; --card: #1c2229;
          --text: #e6e9ed; --soft: #a9b3be; --line: #38414b; --good: #4fc26d; --bad: #ff8a80;
          --open: #f0b849; --rest: #8b96a3; --accent: #8ab4f8; --fill: #263a57; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text);
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
        main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
        h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
        h2 { font-size: 1.2rem; margin: 2.25rem 0 .6rem; }
        h1, h2, p, li, td, th, dd, dt { overflow-wrap: anywhere; }
        th.reason { overflow-wrap: break-word; }
        p { margin: .4rem 0; }
        ul { margin: .4rem 0; padding-left: 1.3rem; }
        code { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
        .soft { color: var(--soft); }
        .lead { font-size: 1.25rem; line-height: 1.4; margin: 1rem 0 .5rem; }
        .state { font-weight: 600; }
        .completed { color: var(--good); }
        .stopped { color: var(--bad); }
        .notice { border-left: 4px solid var(--bad); background: var(--card);
          padding: .6rem .9rem; margin: 1rem 0; }
        .notice.empty { border-color: var(--open); }
        .bar { display: block; width: 100%; height: 1.25rem; border-radius: 4px; margin: 1rem 0; }
        .good { fill: var(--good); } .bad { fill: var(--bad); } .open { fill: var(--open); }
        .rest { fill: var(--rest); }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .45rem .75rem .45rem 0;
          border-bottom: 1px solid var(--line); font-weight: inherit; }
        thead th { color: var(--soft); font-size: .875rem; border-bottom-width: 2px; }
        th:last-child, td:last-child { padding-right: 0; }
        .number { text-align: right; white-space: nowrap; overflow-wrap: normal;
          font-variant-numeric: tabular-nums; }
        .under { display: block; color: var(--soft); font-size: .875rem; }
        figure { margin: 0; }
        .chart { display: grid; grid-template-columns: auto 1fr; column-gap: .5rem;
          margin-top: 1.1rem; }
        .chart svg { width: 100%; height: 14rem; display: block; }
        .rates, .times { display: flex; justify-content: space-between; color: var(--soft);
          font-size: .8125rem; font-variant-numeric: tabular-nums; }
        .rates { flex-direction: column; text-align: right; line-height: 1; margin: -.4rem 0; }
        .times { grid-column: 2; margin-top: .3rem; }
        .grid { stroke: var(--line); stroke-width: 1; }
        .area { fill: var(--fill); }
        .edge { fill: none; stroke: var(--accent); stroke-width: 1.5; }
        .grid, .edge { vector-effect: non-scaling-stroke; }
        figcaption { color: var(--soft); font-size: .875rem; margin-top: .5rem; }
        dl { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; margin: 0; }
        dt, dd { margin: 0; padding: .35rem 0; border-bottom: 1px solid var(--line); }
        dt { color: var(--soft); padding-right: 1rem; }
        footer { margin-top: 2.5rem; color: var(--soft); font-size: .875rem; }
        @media (max-width: 36rem) {
          body { font-size: 15px; }
          main { padding: 1rem .9rem 2rem; }
          h1 { font-size: 1.4rem; } .lead { font-size: 1.1rem; }
          th, td { padding-right: .55rem; }
          .chart svg { height: 10rem; }
          dl { grid-template-columns: 8rem 1fr; }
        }
        @media print {
          :root { color-scheme: light; --back: #ffffff; --card: #ffffff; --text: #000000;
            --soft: #444444; --line: #bbbbbb; --good: #1a7f37; --bad: #b3261e; --open: #8a5a00;
            --rest: #6b7683; --accent: #0b57d0; --fill: #d6e4fb; }
          body { font-size: 11pt; }
          main { max-width: none; padding: 0; }
          * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          tr, figure, dt, dd, .notice { break-inside: avoid; }
          h2 { break-after: avoid; }
          thead { display: table-header-group; }
        }

        """
}
