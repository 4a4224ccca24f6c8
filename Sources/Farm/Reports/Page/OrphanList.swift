/// Outputs whose inputs are gone.
struct OrphanList {
    static let cap = 200

    private let paths: [String]

    init(_ paths: [String]) { self.paths = paths }

    var section: Section {
        let items = paths.prefix(Self.cap).map { path -> Markup in "<li>\(.path(path))</li>\n" }
        let rest = paths.count - items.count
        let more: Markup = rest > 0 ? "<p class=\"note\">And \(Figures.count(rest)) more.</p>\n" : ""
        return Section(
            name: "orphans", title: "Orphans",
            body: items.isEmpty
                ? ""
                : """
                <p class="note">\(Figures.plural(paths.count, "output")) whose inputs are gone.</p>
                <ul class="orphans">
                \(items)</ul>
                \(more)
                """)
    }
}
