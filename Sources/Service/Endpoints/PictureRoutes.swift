import Geometry
import HTTPService
import JobModel
import Pictures
import Queueing
import Runs
import ServiceAPI
import Supervision

/// Pictures of frames before and after their filters, and previews. They are asked for by run, frame and side, never by a path.
extension Service {
    var pictureRoutes: [Route] {
        [
            .api(
                .get, "/runs/{name}/frames/{number}/picture", .read, parameters: ["side", "output", "width"],
                endsWithClient: true, handler: thumbnail),
            .api(
                .get, "/runs/{name}/frames/{number}/crop", .read,
                parameters: ["side", "output", "x", "y", "width", "height", "scale"], endsWithClient: true,
                handler: crop),
            .api(
                .get, "/runs/{name}/frames/{number}/facts", .read, parameters: ["side", "output"],
                endsWithClient: true, handler: facts),
            .api(.post, "/preview", .submit, endsWithClient: true, handler: preview),
        ]
    }

    private static let usualWidth = 480
    /// The largest coordinate. No picture has so many pixels along a side.
    private static let farthest = 1 << 27

    private func thumbnail(_ request: APIRequest) async throws -> APIResponse {
        let width = try request.number("width", PictureOrder.thumbnailRange) ?? Self.usualWidth
        let order = PictureOrder(try await source(request), .thumbnail(width: width))
        let pictures = pictures
        return try await answer(order, "image/webp", request) { owner throws(PictureError) in
            try await pictures.thumbnail(order, for: owner)
        }
    }

    private func crop(_ request: APIRequest) async throws -> APIResponse {
        let scale = try request.number("scale", 1...PictureCrop.largestScale) ?? 1
        let side = 1...PictureCrop.longestSide * PictureCrop.largestScale
        let rect = PixelRect(
            x: try request.number("x", 0...Self.farthest) ?? 0, y: try request.number("y", 0...Self.farthest) ?? 0,
            width: try request.number("width", side) ?? PictureCrop.longestSide * scale,
            height: try request.number("height", side) ?? PictureCrop.longestSide * scale)
        let source = try await source(request)
        let whole = try await pictures.parts.facts(of: source, for: request.pictureOwner())
        let crop = try PictureCrop(rect, scale: scale, ofWidth: whole.width, height: whole.height)
        let (pictures, order) = (pictures, PictureOrder(source, .crop(crop)))
        return try await answer(order, "image/png", request) { owner throws(PictureError) in
            try await pictures.bytes(of: order, whole: whole, for: owner)
        }
    }

    private func facts(_ request: APIRequest) async throws -> APIResponse {
        let source = try await source(request)
        return try .json(
            encoding: PictureBody(try await pictures.parts.facts(of: source, for: request.pictureOwner()), source))
    }

    /// A client that has the picture already costs no worker.
    private func answer(
        _ order: PictureOrder, _ type: String, _ request: APIRequest,
        bytes: (PictureOwner) async throws(PictureError) -> [UInt8]
    ) async throws -> APIResponse {
        var response = APIResponse(headers: ["Content-Type": type])
        let tag = order.name.map { EntityTag($0) }
        if let tag {
            let tagged = response.tagged(tag, for: request)
            if tagged.status == 304 { return tagged }
        }
        response.body = .bytes(try await bytes(request.pictureOwner()))
        return tag.map { response.tagged($0, for: request) } ?? response
    }

    /// The file that the request names by its run, frame and side.
    private func source(_ request: APIRequest) async throws -> PictureSource {
        let (name, reach, unrecorded) = (request.runName, request.roots, unrecordedFrames)
        let frame = try request.frame()
        let sides = PictureSide.allCases.map(\.rawValue).joined(separator: " and ")
        let side = try request.value("side", "is none of \(sides)", PictureSide.init) ?? .after
        let output = (try request.number("output", 1...1000) ?? 1) - 1
        let found = try await onArchive { archive in
            try FramePictures(archive, unrecorded: unrecorded, reach: reach).picture(
                of: frame, in: archive.run(exactly: name), side, output: output)
        }
        // The worker may read what the run could read, and nothing else.
        let roots = try await supervisor.job(ofRun: name)?.options.roots
        return try await pictures.parts.source(of: found, roots: roots, for: request.pictureOwner())
    }

    private func preview(_ request: APIRequest) async throws -> APIResponse {
        let order = try StrictJSON.decode(PreviewOrder.self, from: request.body)
        var options = order.options
        options.roots = request.roots
        // A wrong manifest is refused with all its problems, as at a submission.
        _ = try await supervisor.check(order.source.place, name: order.source.name, options)
        let query = PreviewQuery(
            place: order.source.place, name: order.source.name, options: options, input: order.input,
            at: order.middle, size: order.size, output: order.output)
        do {
            let bytes = try await queries.preview(query, for: request.queueCaller().owner)
            return APIResponse(headers: ["Content-Type": "image/png"], body: .bytes(bytes))
        } catch FarmQueryError.busy {
            // Most previews take less than a second.
            var problem = Problem(FarmQueryError.busy)
            problem.headers["Retry-After"] = "1"
            throw problem
        }
    }
}

extension APIRequest {
    /// Who shares the worker for pictures with others. All browsers of a token are one owner.
    fileprivate func pictureOwner() throws(Problem) -> PictureOwner {
        switch caller {
        case .user(let uid, _): PictureOwner("user \(uid)")
        case .token(let token): PictureOwner("token \(token.id)")
        case nil: throw .unknownCaller
        }
    }
}

/// The answer to `GET …/facts`.
private struct PictureBody: Encodable {
    let width: Int
    let height: Int
    let format: String
    let layout: String
    let samples: String
    let frames: Int
    let bytes: Int
    /// Of the file's bytes. Nil if nothing is recorded of them.
    let digest: String?

    init(_ facts: PictureFacts, _ source: PictureSource) {
        (width, height) = (facts.width, facts.height)
        (format, layout, samples, frames) = (facts.format, facts.layout, facts.samples, facts.frames)
        bytes = source.stamp.size
        digest = if case .digest(let digest) = source.content { "\(digest)" } else { nil }
    }
}

extension Problem {
    init(_ error: PictureError) {
        switch error {
        case .missing:
            self.init(status: 404, kind: "no-picture", title: "There is no picture", message: error.message)
        case .broken:
            self.init(
                status: 404, kind: "broken-picture", title: "The picture cannot be shown", message: error.message)
        case .unsuitable:
            self.init(status: 422, kind: "value", title: "A value is not accepted", message: error.message)
        case .preparing:
            self.init(
                status: 503, kind: Problem.preparing, title: "The picture is being made ready", message: error.message)
            headers["Retry-After"] = "1"
        case .full:
            self.init(status: 503, kind: "busy", title: "The service is busy", message: error.message)
            headers["Retry-After"] = "2"
        case .unavailable:
            self.init(status: 503, kind: "farm", title: "The farm cannot do this now", message: error.message)
            headers["Retry-After"] = "10"
        case .cancelled:
            self.init(
                status: 503, kind: "client-gone", title: "The client has closed its side of the connection",
                remedy: "Keep it open until the answer has come.")
        case .stopping: self = .stopping
        }
    }
}
