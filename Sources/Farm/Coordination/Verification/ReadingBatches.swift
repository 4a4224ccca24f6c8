/// Small files are read many at a time: a message for each would take longer than reading it.
struct ReadingBatches {
    private static let mostFiles = 64
    private static let mostBytes = 8_000_000

    /// Of the files, in their order.
    private(set) var places: [[Int]] = []

    /// - Parameters:
    ///   - files: their places and sizes.
    ///   - workers: each gets several batches, so that none has to wait long for another one's last.
    init(_ files: [(place: Int, bytes: Int)], _ workers: Int) {
        let most = min(Self.mostFiles, max(1, files.count / (4 * workers)))
        var bytes = 0
        for file in files {
            if places.isEmpty || places[places.count - 1].count == most || bytes + file.bytes > Self.mostBytes {
                places.append([])
                bytes = 0
            }
            places[places.count - 1].append(file.place)
            bytes += file.bytes
        }
    }
}
