import JobModel

/// One entry of `inputs`.
struct InputPattern: Sendable {
    /// What it names, as the disk has it.
    enum Kind: Hashable, Sendable {
        case glob
        /// All pictures in it and below.
        case folder
        case file
        /// No wildcards, and neither a file nor a folder.
        case nothing
        /// An object store or a server.
        case remote
    }

    /// As it was written, made absolute and free of `.` and `..` where it is a path.
    let text: String
    let kind: Kind
    /// Of a folder: one for all that it holds.
    let glob: GlobPattern
    /// Those that make a file of a folder a picture, in lower case.
    private let extensions: Set<[UInt8]>

    /// Looks up what an entry without wildcards names.
    init(_ entry: String, in folder: String, pictures extensions: Set<[UInt8]>) {
        let written = GlobPattern(entry, in: folder)
        let isRemote = PathText.isRemote(entry)
        text = isRemote ? entry : written.text
        kind = isRemote ? .remote : written.isLiteral ? Self.kind(of: written.text) : .glob
        glob = kind == .folder ? GlobPattern("**/*", in: written.text) : written
        self.extensions = extensions
    }

    private static func kind(of path: String) -> Kind {
        switch FileKind(of: path) {
        case .file: .file
        case .folder: .folder
        case .other, nil: .nothing
        }
    }

    /// Whether a file with such a name is taken, when the folders above it match. Receipts are no pictures.
    private func takes(_ name: ArraySlice<UInt8>) -> Bool {
        if kind != .file, ReceiptName.isReceipt(name) { return false }
        return kind != .folder || extensions.contains(PathBytes.lowercased(PathBytes.fileExtension(of: name)))
    }

    /// Whether a file of a folder matches that is at some places of ``glob``.
    func accepts(_ name: ArraySlice<UInt8>, at places: [Int]) -> Bool {
        !places.isEmpty && takes(name) && glob.accepts(name, at: places)
    }
}
