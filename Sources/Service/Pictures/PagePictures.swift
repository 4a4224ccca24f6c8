import Coordination
import Glibc
import JobModel
import SafeFiles
import Synchronization

/// All pictures of the page. Two workers make them, so that thumbnails need not wait for a large picture.
///
/// A part of a large picture, and its thumbnail, are made of its levels. The second worker makes these when they are needed first, which
/// takes a little more than one decoding of the picture. Meanwhile, the answer says how much is done.
package final class PagePictures: Sendable {
    /// Makes everything that does not take long.
    package let parts: PictureMaker
    private let levelMaker: PictureMaker
    private let store: LevelStore
    private let setup: PictureMaker.Setup
    /// Where the worker for levels writes.
    private let work: String
    private let leastArea: Int
    private let memory: Int
    /// So that levels that cannot be made are reported once.
    private let isSlow = Mutex(false)

    /// - Parameters:
    ///   - setup: its folder also gets the levels.
    ///   - leastArea: in pixels, of the pictures that get levels.
    ///   - mostBytes: of all levels.
    package init(
        _ setup: PictureMaker.Setup, leastArea: Int = PictureLevels.leastArea, mostBytes: Int = LevelStore.mostBytes
    ) {
        let folder = PathNames.joined(setup.folder, "large")
        var large = setup
        large.folder = PathNames.joined(folder, "making")
        // For the rows of several sizes at once.
        large.memory = 2 * setup.memory
        memory = large.memory
        self.setup = setup
        self.leastArea = leastArea
        work = PictureMaker.Setup.workFolder(in: large.folder)
        store = LevelStore(folder, mostBytes: mostBytes, clock: setup.clock)
        parts = PictureMaker(setup, levels: store)
        levelMaker = PictureMaker(large, levels: store, timeLimit: Self.timeLimit)
    }

    /// Of one picture with all its levels. The largest picture that is decoded takes some minutes on a busy machine.
    private static let timeLimit = Duration.seconds(1800)
    /// How long an answer waits for levels. Browsers have few connections, and must not wait with all of them.
    package static let patience = Duration.seconds(2)

    /// Makes pictures until its task is cancelled. Call it once.
    package func run() async {
        let store = store
        do {
            try await Blocking.run { () throws(FileError) in try store.open() }
        } catch {
            noteSlowness(error.message)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.parts.run() }
            group.addTask { await self.levelMaker.run() }
        }
        await Blocking.run { store.close() }
    }

    /// The bytes of a picture.
    ///
    /// - Parameter whole: of the picture that a crop is a part of.
    /// - Throws: ``PictureError/preparing(percent:)`` if the picture's levels are not made within some seconds. They are made nonetheless.
    package func bytes(
        of order: PictureOrder, whole: PictureFacts, for owner: PictureOwner
    ) async throws(PictureError) -> [UInt8] {
        guard let levels = PictureLevels(of: whole, leastArea: leastArea, memory: memory) else {
            return try await parts.bytes(of: order, for: owner)
        }
        switch order.kind {
        case .crop(let crop):
            if let kept = await parts.kept(order) { return kept }
            // An upright TIFF has its exact pixels at hand.
            let isFast = crop.scale == 1 && whole.format == "tiff" && order.source.page == 0
            if let bytes = try await bytes(of: order, levels, scale: crop.scale, ifMade: isFast, for: owner) {
                return bytes
            }
            return try await parts.bytes(of: PictureOrder(order.source, order.kind, reading: .allPixels), for: owner)
        // A decoder for JPEG gives a small picture in a tenth of the time.
        case .thumbnail(let width) where whole.format != "jpeg":
            if let kept = await parts.kept(order) { return kept }
            let scale = levels.scale(forSide: width)
            if let bytes = try await bytes(of: order, levels, scale: scale, ifMade: false, for: owner) { return bytes }
            // It takes long, and the pictures of others do not wait for it.
            guard let bytes = try await patiently(order, for: owner) else {
                throw .preparing(percent: levelMaker.active == order ? 0 : nil)
            }
            return bytes
        case .thumbnail, .digest, .facts, .levels: return try await parts.bytes(of: order, for: owner)
        }
    }

    /// The thumbnail of a picture. If it was not made before, the facts of the picture are read first.
    ///
    /// - Throws: as ``bytes(of:whole:for:)``.
    package func thumbnail(_ order: PictureOrder, for owner: PictureOwner) async throws(PictureError) -> [UInt8] {
        if let kept = await parts.kept(order) { return kept }
        return try await bytes(of: order, whole: try await parts.facts(of: order.source, for: owner), for: owner)
    }

    /// A picture that is made of a level.
    ///
    /// - Parameter ifMade: whether the level is only used if it is there already.
    /// - Returns: nil if it has to be made of the picture itself.
    private func bytes(
        of order: PictureOrder, _ levels: PictureLevels, scale: Int, ifMade: Bool, for owner: PictureOwner
    ) async throws(PictureError) -> [UInt8]? {
        let making = PictureOrder(order.source, .levels(levels))
        guard let file = try await file(of: making, scale: scale, ifMade: ifMade, for: owner) else { return nil }
        do throws(PictureError) {
            let part = PictureOrder(order.source, order.kind, reading: .level(file))
            return try await parts.bytes(of: part, for: owner)
        } catch {
            try await forget(making, after: error)
            return nil
        }
    }

    /// The file with the picture at a scale.
    ///
    /// - Parameter ifMade: whether the file is only used if it is there already.
    /// - Returns: nil if the part has to be made of the picture itself.
    private func file(
        of order: PictureOrder, scale: Int, ifMade: Bool, for owner: PictureOwner
    ) async throws(PictureError) -> String? {
        let store = store
        let find = { @Sendable in store.file(of: order, scale: scale) }
        guard case .levels(let levels) = order.kind, levels.scales.contains(scale) else { return nil }
        if let file = await Blocking.run(find) { return file }
        guard !ifMade else { return nil }
        do throws(PictureError) {
            guard try await patiently(order, for: owner) != nil else {
                throw .preparing(percent: await percent(of: order, levels))
            }
            isSlow.withLock { $0 = false }
            return await Blocking.run(find)
        } catch {
            switch error {
            // The picture itself can be shown nonetheless, or its part says what is wrong with it.
            case .broken, .unsuitable: return nil
            case .unavailable(let message):
                noteSlowness(message)
                return nil
            case .missing, .preparing, .full, .cancelled, .stopping: throw error
            }
        }
    }

    /// Waits until the second worker has carried out an order, but not for long.
    ///
    /// - Returns: nil if it takes longer.
    private func patiently(_ order: PictureOrder, for owner: PictureOwner) async throws(PictureError) -> [UInt8]? {
        let (maker, clock) = (levelMaker, setup.clock)
        let result = await withTaskGroup(of: Result<[UInt8]?, PictureError>.self) { group in
            group.addTask {
                do throws(PictureError) {
                    return .success(try await maker.bytes(of: order, for: owner))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                // A cancelled wait ends early, and so does the answer.
                try? await clock.sleep(for: Self.patience)
                return .success(nil)
            }
            let first = await group.next() ?? .success(nil)
            group.cancelAll()
            return first
        }
        return try result.get()
    }

    /// How much of the levels is written, in tens, because screen readers read each change. Nil if they wait for the levels of another
    /// picture.
    private func percent(of order: PictureOrder, _ levels: PictureLevels) async -> Int? {
        guard levelMaker.active == order else { return nil }
        let work = work
        return await Blocking.run {
            // Without the folder, nothing is written yet.
            guard let folder = try? SafeFolder(work) else { return 0 }
            let written = levels.scales.reduce(0) { sum, scale in
                sum + ((try? folder.status(of: PictureLevels.fileName(scale)))?.map { Int($0.st_size) } ?? 0)
            }
            return max(0, min(9, written * 10 / levels.bytes)) * 10
        }
    }

    /// Removes levels of which a part could not be made.
    private func forget(_ order: PictureOrder, after error: PictureError) async throws(PictureError) {
        switch error {
        // It says nothing about them.
        case .full, .cancelled, .stopping, .preparing, .unavailable: throw error
        case .missing, .broken, .unsuitable:
            let store = store
            await Blocking.run { store.forget(order) }
            // Then it would be missing in the other way, too.
            if error == .missing(PictureOrder.changed) { throw error }
        }
    }

    private func noteSlowness(_ message: String) {
        let isFirst = isSlow.withLock { isSlow in
            defer { isSlow = true }
            return !isSlow
        }
        if isFirst { setup.noted("parts of large pictures are made slowly: \(message)") }
    }
}
