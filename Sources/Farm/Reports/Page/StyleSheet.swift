/// The style sheet of the page. Colours are in ``Palette``.
enum StyleSheet {
    static let css = base + header + lists + tables + pictures + narrow + paper

    private static let base = """
        *, *::before, *::after { box-sizing: border-box }
        html { color-scheme: light dark; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
        body { margin: 0 auto; max-width: 62rem; padding: clamp(1.25rem, 4vw, 3rem) clamp(1.1rem, 5vw, 3rem) 4rem;
          background: var(--paper); color: var(--ink); font: 400 .9375rem/1.5 system-ui, -apple-system, "Segoe UI",
          Roboto, Inter, "Noto Sans", "Helvetica Neue", sans-serif; font-variant-numeric: tabular-nums }
        h1, h2, h3, p, ul, dl, dd, figure, table { margin: 0; padding: 0 }
        ul { list-style: none }
        a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .2em }
        a:hover { text-decoration-color: currentcolor }
        :focus-visible { outline: 2px solid var(--bar); outline-offset: 3px; border-radius: 2px }
        section { margin-top: 3.25rem; scroll-margin-top: 1rem }
        h2, h3 { font-size: 1.25rem; font-weight: 620; letter-spacing: -.012em; line-height: 1.3 }
        section > h2, section > h3 { margin-bottom: .75rem }
        section > .note:nth-child(2) { margin-top: -.4rem }
        .note { color: var(--quiet); margin: 0 0 .9rem; max-width: 42rem }
        .path { white-space: pre-wrap; overflow-wrap: anywhere }
        .path > span { color: var(--quiet) }
        i { font: normal .85em/1 ui-monospace, "SF Mono", Menlo, Consolas, monospace; color: var(--caution);
          background: var(--panel); border: 1px solid var(--line); border-radius: 3px; padding: 0 .2em }
        code { font: .86em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace }

        """

    private static let header = """
        .brand { display: flex; align-items: center; gap: .5rem; color: var(--quiet); font-size: .875rem }
        .brand b { color: var(--ink); font-weight: 620 }
        .brand svg { width: 1.15rem; height: 1.15rem }
        .sun { fill: none; stroke: var(--ink); stroke-width: 1.5 }
        .shade { fill: var(--ink) }
        header { margin-top: 2.75rem }
        h1, article > header > h2 { font-size: clamp(1.7rem, 4.6vw, 2.6rem); font-weight: 640;
          letter-spacing: -.026em; line-height: 1.12; text-wrap: balance }
        article > header > h2 { font-size: 1.7rem }
        .verdict { display: flex; gap: .34em }
        .job { display: block; font-size: 1rem; font-weight: 500; letter-spacing: 0; color: var(--quiet);
          margin-bottom: .45rem; overflow-wrap: anywhere }
        .sign { flex: none; width: .82em; height: .82em; margin-top: .16em; stroke: var(--paper); stroke-width: 2;
          fill: none; stroke-linecap: round; stroke-linejoin: round }
        .sign circle { stroke: none }
        .sign.well circle { fill: var(--well) } .sign.caution circle { fill: var(--caution) }
        .sign.fault circle { fill: var(--fault) }
        .reason { margin-top: .8rem; font-size: 1.0625rem; max-width: 46rem }
        .strip { display: flex; gap: 2px; height: .625rem; margin-top: 1.75rem; border-radius: 99px; overflow: hidden }
        .strip > span { flex: 1 1 0; min-width: 4px }
        .published { --state: var(--well) } .skipped { --state: var(--skipped) } .kept { --state: var(--caution) }
        .failed, .still_broken { --state: var(--fault) } .left { --state: var(--line) }
        .strip > span, .swatch { background: var(--state) }
        .strip > .still_broken, .swatch.still_broken {
          background: repeating-linear-gradient(135deg, var(--fault) 0 3px, var(--paper) 3px 5px) }
        .swatch { display: inline-block; width: .625rem; height: .625rem; border-radius: 50%; margin-right: .45rem }
        .swatch.left { background: none; border: 2px solid var(--quiet) }
        .legend { display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; margin-top: .75rem; color: var(--quiet) }
        .legend b { color: var(--ink); font-weight: 620 }
        .legend a { text-decoration: none } .legend a:hover { text-decoration: underline }
        .when { margin-top: 1.75rem; color: var(--quiet); display: flex; flex-wrap: wrap; gap: .15rem 1.5rem;
          justify-content: space-between }
        .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.25rem, 1fr)); margin-top: .75rem;
          border-top: 1px solid var(--line); border-bottom: 1px solid var(--line) }
        .facts > div { padding: .8rem .75rem .85rem 0 }
        dt { color: var(--quiet); font-size: .8125rem }
        .facts dd { font-size: 1.3125rem; font-weight: 560; letter-spacing: -.015em; line-height: 1.35 }
        .facts small { display: block; font-size: .8125rem; font-weight: 400; letter-spacing: 0; color: var(--quiet) }
        .jobs { margin-top: 1.5rem; border-top: 1px solid var(--line) }
        .jobs li { display: flex; gap: .6rem; align-items: center; padding: .55rem 0;
          border-bottom: 1px solid var(--line) }
        .jobs .sign { width: 1.05rem; height: 1.05rem; margin: 0 }
        .jobs a { font-weight: 620; margin-right: .6rem }
        article + article { margin-top: 5rem; border-top: 3px solid var(--ink) }
        header ~ article { margin-top: 5rem; border-top: 3px solid var(--ink) }

        """

    private static let lists = """
        .group { border-left: 3px solid var(--state); padding: .1rem 0 .1rem 1.1rem }
        .group + .group { margin-top: 1.5rem }
        .cause { font-weight: 620 }
        .cause::first-letter { text-transform: uppercase }
        .cause span { color: var(--quiet); font-weight: 400; margin-left: .4rem }
        .group li { padding: .5rem 0; border-bottom: 1px solid var(--line) }
        .group li:last-child { border-bottom: 0; padding-bottom: .1rem }
        .group .note { margin: .6rem 0 0 }
        .message { display: block; color: var(--quiet); overflow-wrap: anywhere; max-width: 46rem }
        .orphans { columns: 2 18rem; column-gap: 2.5rem }
        .orphans li { break-inside: avoid; padding: .15rem 0 }
        footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .8125rem }
        footer dl { display: flex; flex-wrap: wrap; gap: .35rem 1.75rem }
        footer div { display: flex; gap: .45rem; overflow-wrap: anywhere }

        """

    private static let tables = """
        table { width: 100%; border-collapse: collapse; line-height: 1.4 }
        th { text-align: left; font-weight: 400 }
        th, td { vertical-align: baseline; padding: .55rem 0 .55rem 1.25rem; border-bottom: 1px solid var(--line) }
        th:first-child { padding-left: 0; width: 100% }
        thead th { color: var(--quiet); font-size: .8125rem; padding-top: .2rem; padding-bottom: .4rem }
        td { white-space: nowrap }
        .frames td:nth-child(n + 3), .frames th:nth-child(n + 3), .bars td, .bars thead th + th { text-align: right }
        .output { display: block; font-size: .8125rem; color: var(--quiet) }
        .output .path > span { color: inherit }
        .output > span, .output > code { margin-left: .35rem; white-space: nowrap }
        .state::before { content: ""; display: inline-block; width: .5rem; height: .5rem; border-radius: 50%;
          margin-right: .45rem; background: var(--state) }
        .state.left::before { background: none; border: 1.5px solid var(--quiet) }
        .state.still_broken::before {
          background: repeating-linear-gradient(135deg, var(--fault) 0 2px, var(--paper) 2px 3px) }
        .state.failed, .state.still_broken { color: var(--fault) } .state.kept { color: var(--caution) }
        .why { display: block; font-size: .8125rem; color: var(--quiet); white-space: normal; min-width: 9.5rem;
          padding-left: .95rem }
        .bars th[scope=row] { padding-top: .5rem }
        .bars tbody th, .bars tbody td { border-bottom: 0; padding-bottom: .35rem }
        .bar { display: block; height: .3125rem; min-width: 2px; margin-top: .3rem; border-radius: 99px;
          background: var(--bar) }

        """

    private static let pictures = """
        .pairs { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr));
          gap: 1.75rem 1.75rem }
        .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 3px; border-radius: 6px; overflow: hidden;
          place-items: center; background: var(--panel) }
        .pair img { display: block; max-width: 100%; max-height: 20rem; width: auto; height: auto;
          background: repeating-conic-gradient(var(--line) 0 25%, var(--panel) 0 50%) 0 0 / 16px 16px }
        .pair .none { display: grid; place-items: center; color: var(--quiet); font-size: .8125rem; min-height: 8rem }
        figcaption { margin-top: .5rem; display: flex; justify-content: space-between; gap: 1rem }
        figcaption > span { color: var(--quiet); white-space: nowrap }

        """

    private static let narrow = """
        @media (max-width: 40rem) {
          .wide { display: none }
          .bars th, .bars td { padding-left: .9rem } .bars th:first-child { padding-left: 0 }
          .frames, .frames tbody { display: block }
          .frames tbody tr { display: grid; grid-template-columns: 1fr auto; padding: .7rem 0;
            border-bottom: 1px solid var(--line) }
          .frames thead { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden }
          .frames tbody th { grid-column: 1 / -1 } .frames tbody :is(th, td) { border: 0; padding: 0 }
          .frames tbody td { font-size: .8125rem; margin-top: .3rem }
          .why { display: inline; padding-left: .35rem }
          .output code { display: none }
          .facts { grid-template-columns: repeat(2, 1fr) }
          section { margin-top: 2.5rem }
        }

        """

    private static let paper = """
        @media print {
          @page { margin: 16mm 14mm }
          html { font-size: 12px }
          body { max-width: none; padding: 0; background: none }
          .facts { grid-auto-flow: column; grid-template-columns: none; grid-auto-columns: 1fr }
          .pairs { grid-template-columns: 1fr 1fr }
          * { -webkit-print-color-adjust: exact; print-color-adjust: exact }
          section { margin-top: 1.75rem }
          tr, figure, .group li, .facts { break-inside: avoid }
          h2, h3, .cause, .note { break-after: avoid }
          thead { display: table-header-group }
          a { text-decoration: none }
        }

        """
}

/// The page's colours. A test holds them to the contrast that WCAG 2 asks for: 4.5 for text, 3 for bars.
package enum Palette {
    package enum Use: Sendable {
        case surface, text, graphic, line
    }

    package struct Color: Sendable {
        package let name: String
        package let use: Use
        /// `#rrggbb`
        package let light: String
        package let dark: String
    }

    package static let colors = [
        Color(name: "paper", use: .surface, light: "#fcfcfa", dark: "#121318"),
        Color(name: "panel", use: .surface, light: "#f3f3ef", dark: "#1b1d24"),
        Color(name: "line", use: .line, light: "#dfdfd8", dark: "#2e313b"),
        Color(name: "ink", use: .text, light: "#191a1f", dark: "#ececf0"),
        Color(name: "quiet", use: .text, light: "#5c5f69", dark: "#a2a5b1"),
        Color(name: "well", use: .text, light: "#1a7045", dark: "#6fcf9a"),
        Color(name: "caution", use: .text, light: "#8a5a00", dark: "#e2b457"),
        Color(name: "fault", use: .text, light: "#b3261e", dark: "#ff8d80"),
        Color(name: "bar", use: .graphic, light: "#65718f", dark: "#7f8db0"),
        Color(name: "skipped", use: .graphic, light: "#7f8ba0", dark: "#76829b"),
    ]

    /// The colours as CSS custom properties: dark if the reader prefers it, light on paper.
    static var css: String {
        let light = properties { $0.light }
        return """
            :root { \(light) }
            @media (prefers-color-scheme: dark) { :root { \(properties { $0.dark }) } }
            @media print { :root { \(light) } }

            """
    }

    private static func properties(_ value: (Color) -> String) -> String {
        colors.map { "--\($0.name): \(value($0));" }.joined(separator: " ")
    }
}
