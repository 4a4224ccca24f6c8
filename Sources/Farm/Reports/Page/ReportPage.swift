/// One self-contained HTML page that says what runs did.
///
/// It is read without scripts and asks nobody for anything: pictures and style are inside, and its content security
/// policy forbids the rest.
package enum ReportPage {
    package static let contentSecurityPolicy =
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    /// - Parameter runs: one for each job, in the order of their running.
    package static func html(_ runs: [RunReport]) -> String {
        let body: [Markup] =
            runs.count == 1
            ? [RunArticle(runs[0], level: 1, prefix: "").markup]
            : [overview(runs)]
                + runs.enumerated().map { RunArticle($1, level: 2, prefix: "job\($0 + 1)-").markup }
        let title = runs.count == 1 ? "\(runs[0].job): \(Verdict(runs[0]).headline)" : Verdict(runs).headline
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(Markup(stringLiteral: contentSecurityPolicy))">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="Penumbra">
            <title>\(attribute: title) – Penumbra</title>
            <link rel="icon" href="data:,">
            <style>
            \(Markup(stringLiteral: Palette.css + StyleSheet.css))</style>
            </head>
            <body>
            <p class="brand">\(eclipse)<b>Penumbra</b> <span>run report</span></p>
            <main>
            \(body)</main>
            </body>
            </html>

            """
        return page.html
    }

    /// The sign of a program that is named after a half-shadow.
    private static let eclipse: Markup = """
        <svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="9" class="sun"/>\
        <path d="M10 1a9 9 0 1 0 0 18a13 13 0 0 0 0-18z" class="shade"/></svg>
        """

    private static func overview(_ runs: [RunReport]) -> Markup {
        let jobs = runs.enumerated().map { index, run -> Markup in
            let verdict = Verdict(run)
            return """
                <li>\(verdict.tone.sign)<span><a href="#job\(index + 1)-top">\(run.job)</a> \
                \(verdict.headline)</span></li>

                """
        }
        let verdict = Verdict(runs)
        return """
            <header>
            <h1>\(verdict.markup)</h1>
            <ul class="jobs">
            \(jobs)</ul>
            </header>

            """
    }
}

extension Verdict {
    /// The headline behind its sign.
    var markup: Markup { "<span class=\"verdict\">\(tone.sign)<span>\(headline)</span></span>" }
}

extension Verdict.Tone {
    /// A sign that is told apart by its shape too.
    var sign: Markup {
        let shape: Markup =
            switch self {
            case .well: "<path d=\"M6 10.4l2.8 2.8L14.2 7.4\"/>"
            case .caution: "<path d=\"M10 5.2v5.6M10 14.2v.2\"/>"
            case .fault: "<path d=\"M6.8 6.8l6.4 6.4M13.2 6.8l-6.4 6.4\"/>"
            }
        return """
            <svg class="sign \(rawValue)" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="10"/>\
            \(shape)</svg>
            """
    }
}
