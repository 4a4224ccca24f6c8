package import Catalogs
import JobModel

/// The regions of pictures, as a program that finds faces writes them, or a person.
///
/// There are three forms of JSON:
/// - COCO: `{"images": […], "annotations": […], "categories": […]}`, with boxes, and with outlines if they are asked for;
/// - pictures by name: `{"photos/a.jpg": [[x, y, width, height], …], …}`;
/// - for a file of a single picture, the list alone: `[[x, y, width, height], …]`.
///
/// In the last two, a region may also be `{"x": 1, "y": 2, "width": 3, "height": 4, "category": "face"}`, and a picture may be
/// `{"width": 4000, "height": 3000, "regions": […]}`, with the size of the picture that the regions were found in. Keys that have no meaning
/// here, such as scores, are skipped.
package struct RegionList: Sendable {
    /// A problem of the whole file, or of one picture in it.
    package struct Problem: Error, Hashable, Sendable {
        package let reason: String
        package let remedy: String

        package init(reason: String, remedy: String) {
            self.reason = reason
            self.remedy = remedy
        }
    }

    package typealias Regions = Result<RegionSet, Problem>

    /// By the listed name.
    private let entries: [String: [Entry]]
    /// The numbers of components that listed names have, the largest first.
    private let lengths: [Int]
    /// By the last component of the listed name.
    private let byLastName: [String: String]
    /// The regions if the file names no pictures.
    private let only: Regions?
    /// For each entry, the pictures that take their regions from it.
    private let takers: [Int: [String]]
    /// The categories of the regions in the file.
    package let categories: Set<String>

    private struct Entry: Sendable {
        let index: Int
        /// As it was written.
        let name: String
        let regions: Regions
    }

    /// - Parameters:
    ///   - options: how the regions are used.
    ///   - folder: where relative names start.
    ///   - inputs: the absolute paths of all pictures of the job. One name must not stand for several.
    /// - Throws: a problem of the whole file.
    package init(
        _ text: [UInt8], options: RegionFile, folder: String, inputs: [String]
    ) throws(Problem) {
        let value = try Self.value(of: text)
        var reader = RegionListReader(options: options)
        let found = try reader.pictures(in: value)
        categories = reader.categories
        switch found {
        case .one(let regions):
            (only, entries, lengths, byLastName, takers) = (regions, [:], [], [:], [:])
        case .named(let pictures):
            let named = pictures.enumerated().map { index, picture in
                (
                    components: Self.components(picture.name, in: folder),
                    entry: Entry(index: index, name: picture.name, regions: picture.regions)
                )
            }
            let entries = Dictionary(grouping: named) { $0.components.joined(separator: "/") }
                .mapValues { $0.map(\.entry) }
            let lengths = Set(named.map(\.components.count)).sorted(by: >)
            let taken = inputs.compactMap { input in
                Self.groups(entries, lengths, input).first?.first.map { (entry: $0.index, input: input) }
            }
            takers = Dictionary(grouping: taken, by: \.entry).mapValues { $0.map(\.input) }
            byLastName = Dictionary(named.map { ($0.components.last ?? "", $0.entry.name) }) { first, _ in first }
            (only, self.entries, self.lengths) = (nil, entries, lengths)
        }
    }

    private static func value(of text: [UInt8]) throws(Problem) -> JSONValue {
        let start: [UInt8] = text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
        guard start.contains(where: { !" \t\r\n".utf8.contains($0) }) else {
            throw Problem(reason: "it is empty", remedy: "export it again")
        }
        do {
            return try JSONScanner.value(of: start)
        } catch {
            guard error.column <= start.count else {
                throw Problem(reason: "it ends in the middle", remedy: "export it again")
            }
            let before = start.prefix(error.column - 1)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = error.column - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
            throw Problem(
                reason: "it is no JSON in line \(line), byte \(column)", remedy: "correct it, or export it again")
        }
    }

    /// Whether the file has the regions of one picture, which it does not name.
    package var isOfOnePicture: Bool { only != nil }

    /// The names that no picture of the job has, as they were written.
    package var unused: [String] {
        entries.values.flatMap(\.self).filter { takers[$0.index] == nil }.sorted { $0.index < $1.index }.map(\.name)
    }

    /// Whether some picture of the job is listed.
    package var isUsed: Bool { only != nil || !takers.isEmpty }

    /// The regions of a picture. Nil if the file does not list it.
    ///
    /// - Parameter path: absolute.
    package func regions(of path: String) -> Regions? {
        if let only { return only }
        let groups = Self.groups(entries, lengths, path)
        guard let longest = groups.first, let entry = longest.first else { return nil }
        // The regions of a shorter name would be lost if no other picture had it.
        let shorter = groups.dropFirst().flatMap(\.self).first { self.takers[$0.index] == nil }
        if longest.count > 1 || shorter != nil {
            let names = shorter.map {
                "\(Self.quoted(entry.name)) and \(Self.quoted($0.name)), which is the same picture"
            }
            return .failure(
                Problem(reason: "lists \(names ?? "\(Self.quoted(entry.name)) twice")", remedy: "merge the two"))
        }
        let takers = takers[entry.index] ?? []
        if let other = takers.first(where: { PathKey($0) != PathKey(path) }) {
            return .failure(
                Problem(
                    reason: "has \(Self.quoted(entry.name)), which may be this picture or \(PathText.visible(other))",
                    remedy: "write names with their folders"))
        }
        return entry.regions
    }

    /// A listed name with the same last component in another folder.
    package func nearName(of path: String) -> String? {
        PathText.components(path).last.flatMap { byLastName[$0] }.map(Self.quoted)
    }

    /// The entries for a path, in groups of equally long names. The longest names come first.
    private static func groups(_ entries: [String: [Entry]], _ lengths: [Int], _ path: String) -> [[Entry]] {
        let components = PathText.components(path)
        return lengths.filter { $0 <= components.count }
            .compactMap { entries[components.suffix($0).joined(separator: "/")] }
    }

    /// An absolute name has all of its components, and `./a.jpg` and `../a.jpg` start from the folder.
    private static func components(_ name: String, in folder: String) -> [String] {
        let isPlaced = PathNames.isAbsolute(name) || name.hasPrefix("./") || name.hasPrefix("../")
        return PathText.components(isPlaced ? PathText.normalized(name, in: folder) : name)
    }

    private static func quoted(_ name: String) -> String { "'\(VisibleText.line(name))'" }
}

/// Reads the forms of ``RegionList``.
private struct RegionListReader {
    typealias Problem = RegionList.Problem

    /// More regions of one picture are a mistake, and would take long.
    private static let most = 10_000

    enum Found {
        case one(RegionList.Regions)
        case named([(name: String, regions: RegionList.Regions)])
    }

    let options: RegionFile
    /// All categories that were read.
    private(set) var categories: Set<String> = []

    init(options: RegionFile) { self.options = options }

    mutating func pictures(in value: JSONValue) throws(Problem) -> Found {
        switch value {
        case .list(let items):
            if items.contains(where: { $0["image_id"] != nil }) {
                throw Problem(
                    reason: "it has results without the names of their pictures",
                    remedy: "use a COCO file with 'images' and 'annotations'")
            }
            return .one(regions(value))
        case .object(let members):
            if case .list? = value["images"], value["annotations"] == nil {
                throw odd("it has 'images' and no 'annotations'")
            }
            if value["images"] == nil, case .list(let items)? = value["annotations"],
                items.isEmpty || items.contains(where: { $0["image_id"] != nil || $0["bbox"] != nil })
            {
                throw Problem(
                    reason: "it has 'annotations' and no 'images', which name their pictures",
                    remedy: "export COCO with both")
            }
            if value["images"] != nil, value["annotations"] != nil { return .named(try coco(value)) }
            if value["regions"] != nil { return .one(regions(value)) }
            var pictures: [(name: String, regions: RegionList.Regions)] = []
            for member in members { pictures.append((member.key, regions(member.value))) }
            return .named(pictures)
        case .null, .truth, .number, .text:
            throw Problem(
                reason: "it has neither a list of regions nor names of pictures",
                remedy: #"write {"photo.jpg": [[x, y, width, height]]}, or export COCO"#)
        }
    }

    // MARK: Rectangles by name

    private mutating func regions(_ value: JSONValue) -> RegionList.Regions {
        do throws(Problem) {
            guard case .object = value else { return .success(try set(of: value, size: nil)) }
            guard let list = value["regions"] else { throw odd("has no 'regions'") }
            return .success(try set(of: list, size: try size(of: value)))
        } catch {
            return .failure(error)
        }
    }

    private mutating func set(of list: JSONValue, size: PictureSize?) throws(Problem) -> RegionSet {
        guard case .list(let items) = list else { throw odd("has no list of regions") }
        var regions: [Region] = []
        for (index, item) in items.enumerated() {
            let (sides, category) = try rectangle(item, number: index + 1)
            if let category { categories.insert(category) }
            if isMeant(category) { regions.append(try region(sides, number: index + 1)) }
        }
        return try set(regions, size)
    }

    private func set(
        _ regions: [Region], outlines: [RegionOutline] = [], _ size: PictureSize?
    ) throws(Problem) -> RegionSet {
        guard regions.count + outlines.count <= Self.most else {
            throw Problem(reason: "has more than \(Self.most) regions", remedy: "use a mask for this picture")
        }
        return RegionSet(regions, outlines: outlines, of: size)
    }

    private func rectangle(_ item: JSONValue, number: Int) throws(Problem) -> (sides: [Double], category: String?) {
        let sides: [JSONValue?]
        var category: String?
        switch item {
        case .list(let numbers): sides = numbers
        case .object:
            sides = ["x", "y", "width", "height"].map { item[$0] }
            if case .text(let name)? = item["category"] { category = name }
        case .null, .truth, .number, .text: sides = []
        }
        let numbers = sides.compactMap { $0?.double }
        guard numbers.count == 4, sides.count == 4 else {
            throw odd("region \(number) is not [x, y, width, height] in pixels")
        }
        return (numbers, category)
    }

    /// Regions without a category always count.
    private func isMeant(_ category: String?) -> Bool {
        category.map { options.categories.isEmpty || options.categories.contains($0) } ?? true
    }

    /// - Parameter sides: left, top, width and height.
    private func region(_ sides: [Double], number: Int) throws(Problem) -> Region {
        let (width, height) = (sides[2], sides[3])
        guard width > 0, height > 0, max(width, height) <= LengthLimit.widest.pixels else {
            throw odd("region \(number) has the size \(Self.text(width)) × \(Self.text(height))")
        }
        guard max(sides[0].magnitude, sides[1].magnitude) <= LengthLimit.widest.pixels else {
            throw odd("region \(number) begins at \(Self.text(sides[0])), \(Self.text(sides[1]))")
        }
        // Some programs write parts of the picture's size.
        guard max(width, height) > 1 else {
            throw Problem(
                reason: "region \(number) is not larger than a pixel",
                remedy: "write pixels, and no parts of the picture's size")
        }
        let (across, down) = (growth(of: width), growth(of: height))
        return Region(
            x: .pixels(sides[0] - across), y: .pixels(sides[1] - down), width: .pixels(width + 2 * across),
            height: .pixels(height + 2 * down), cornerRadius: options.cornerRadius)
    }

    private func growth(of side: Double) -> Double {
        switch options.grow {
        case .pixels(let pixels): pixels
        case .percent(let percent): percent * side / 100
        }
    }

    private func size(of value: JSONValue) throws(Problem) -> PictureSize? {
        guard value["width"] != nil || value["height"] != nil else { return nil }
        guard let width = value["width"]?.int, let height = value["height"]?.int, width > 0, height > 0,
            max(width, height) <= 1 << 30
        else { throw odd("has a 'width' or a 'height' that is no number of pixels") }
        return PictureSize(width: width, height: height)
    }

    private func odd(_ reason: String) -> Problem { Problem(reason: reason, remedy: "correct it") }

    private static func text(_ number: Double) -> String {
        number == number.rounded() && number.magnitude < 1e15 ? String(Int(number)) : String(number)
    }

    // MARK: COCO

    private mutating func coco(_ value: JSONValue) throws(Problem) -> [(name: String, regions: RegionList.Regions)] {
        let names = try self.names(ofCategories: value["categories"])
        categories = Set(names.values)
        var pictures: [(id: String, name: String, size: Result<PictureSize?, Problem>)] = []
        for (index, image) in try items(value["images"], "images").enumerated() {
            guard let id = image["id"]?.identity, case .text(let name)? = image["file_name"] else {
                throw odd("item \(index + 1) of its 'images' has no 'id' or no 'file_name'")
            }
            pictures.append((id, name, Result { () throws(Problem) in try size(of: image) }))
        }
        let known = Set(pictures.map(\.id))
        guard known.count == pictures.count else { throw odd("two items of its 'images' have the same 'id'") }
        var found: [String: [JSONValue]] = [:]
        for (index, annotation) in try items(value["annotations"], "annotations").enumerated() {
            // Without its picture, the region would be lost, and a face would stay sharp.
            guard let id = annotation["image_id"]?.identity, known.contains(id) else {
                throw odd("item \(index + 1) of its 'annotations' belongs to none of its 'images'")
            }
            found[id, default: []].append(annotation)
        }
        var corners = 0
        var result: [(name: String, regions: RegionList.Regions)] = []
        for (id, name, size) in pictures {
            let regions = Result { () throws(Problem) in
                try set(ofAnnotations: found[id] ?? [], names, size: try size.get())
            }
            if case .success(let set) = regions { corners += set.outlines.reduce(0) { $0 + $1.corners } }
            guard corners <= Self.mostCorners else {
                throw Problem(
                    reason: "its outlines have more than \(Self.mostCorners) corners",
                    remedy: "divide it among several jobs, or use masks")
            }
            result.append((name, regions))
        }
        return result
    }

    /// The most corners of all pictures together, which are in memory at once.
    private static let mostCorners = 8_000_000

    private func set(
        ofAnnotations annotations: [JSONValue], _ categories: [String: String], size: PictureSize?
    ) throws(Problem) -> RegionSet {
        var regions: [Region] = []
        var drawn = DrawnOutlines(size: size)
        for (index, annotation) in annotations.enumerated() {
            guard isMeant(annotation["category_id"]?.identity.flatMap { categories[$0] }) else { continue }
            // An annotation without an outline has its box.
            if options.shape == .outline, try add(annotation["segmentation"], number: index + 1, to: &drawn) {
                continue
            }
            guard case .list(let numbers)? = annotation["bbox"], numbers.count == 4 else {
                throw odd("annotation \(index + 1) of this picture has no 'bbox'")
            }
            let sides = numbers.compactMap(\.double)
            guard sides.count == 4 else {
                throw odd("annotation \(index + 1) of this picture has no numbers in its 'bbox'")
            }
            regions.append(try region(sides, number: index + 1))
        }
        return try set(regions, outlines: drawn.outlines, drawn.size)
    }

    /// Adds the outlines of an annotation: polygons, or a mask.
    ///
    /// - Returns: false if it has none that encloses more than a pixel.
    private func add(
        _ segmentation: JSONValue?, number: Int, to drawn: inout DrawnOutlines
    ) throws(Problem) -> Bool {
        switch segmentation {
        case nil, .null?: return false
        case .list(let polygons)?:
            let before = drawn.outlines.count
            for polygon in polygons {
                let ring = try self.ring(polygon, number: number)
                // Programs leave specks beside the polygons of a thing.
                guard DrawnOutlines.hasArea(ring) else { continue }
                try drawn.add(RegionOutline(rings: [ring], grow: growth(of: [ring])))
            }
            return drawn.outlines.count > before
        case .object?:
            let mask = try runLengths(segmentation, number: number)
            try drawn.take(mask.size, number: number)
            guard let rings = mask.rings(most: RegionOutline.mostCorners) else { throw DrawnOutlines.tooManyCorners }
            guard !rings.isEmpty else { return false }
            try drawn.add(RegionOutline(rings: rings, grow: growth(of: rings)))
            return true
        case .truth?, .number?, .text?:
            throw odd("has a 'segmentation' in annotation \(number) of this picture that is no outline")
        }
    }

    /// Percentages refer to the longer side of the box around an outline.
    private func growth(of rings: [[Double]]) -> Double {
        let box = DrawnOutlines.box(of: rings)
        return max(growth(of: box.width), growth(of: box.height))
    }

    private func ring(_ polygon: JSONValue, number: Int) throws(Problem) -> [Double] {
        guard case .list(let items) = polygon, items.count.isMultiple(of: 2) else {
            throw odd("has a polygon in annotation \(number) of this picture that is not [x, y, x, y, …]")
        }
        var ring: [Double] = []
        for item in items {
            guard let place = item.double, place.magnitude <= LengthLimit.widest.pixels else {
                throw odd("has a polygon in annotation \(number) of this picture that is not [x, y, x, y, …]")
            }
            ring.append(place)
        }
        return ring
    }

    private func runLengths(_ value: JSONValue?, number: Int) throws(Problem) -> RunLengths {
        func fault(_ reason: String) -> Problem {
            odd("has a mask in annotation \(number) of this picture that \(reason)")
        }
        guard case .list(let sides)? = value?["size"], sides.count == 2, let height = sides[0].int,
            let width = sides[1].int
        else { throw fault("has no 'size' of a picture") }
        let counts: [Int]?
        switch value?["counts"] {
        case .list(let items)?:
            let numbers = items.compactMap(\.int)
            counts = numbers.count == items.count ? numbers : nil
        case .text(let text)?: counts = RunLengths.counts(of: text)
        case nil, .null?, .truth?, .number?, .object?: counts = nil
        }
        guard let counts else { throw fault("has 'counts' that are no lengths of runs") }
        do throws(RunLengths.Problem) {
            return try RunLengths(size: PictureSize(width: width, height: height), counts: counts)
        } catch {
            throw fault(error.reason)
        }
    }

    /// The names of the categories by their numbers.
    ///
    /// - Throws: a problem if the file has none of the categories that are asked for: a misspelt one would leave all of its regions sharp.
    private func names(ofCategories list: JSONValue?) throws(Problem) -> [String: String] {
        var names: [String: String] = [:]
        for category in try list.map({ (list) throws(Problem) in try items(list, "categories") }) ?? [] {
            if let id = category["id"]?.identity, case .text(let name)? = category["name"] { names[id] = name }
        }
        let known = Set(names.values)
        if let missing = options.categories.first(where: { !known.contains($0) }) {
            throw Problem(
                reason: "it has no category '\(VisibleText.line(missing))'",
                remedy: known.isEmpty
                    ? "leave 'categories' out"
                    : "its categories are \(known.sorted().map { VisibleText.line($0) }.joined(separator: ", "))")
        }
        return names
    }

    private func items(_ value: JSONValue?, _ name: String) throws(Problem) -> [JSONValue] {
        guard case .list(let items)? = value else { throw odd("its '\(name)' is no list") }
        return items
    }
}

/// The outlines of one picture.
private struct DrawnOutlines {
    typealias Problem = RegionList.Problem

    private(set) var outlines: [RegionOutline] = []
    /// Of the picture. A mask of COCO says it, too.
    private(set) var size: PictureSize?
    private var corners = 0

    init(size: PictureSize?) { self.size = size }

    static let tooManyCorners = Problem(
        reason: "has outlines of more than \(RegionOutline.mostCorners) corners", remedy: "use a mask for this picture")

    mutating func add(_ outline: RegionOutline) throws(Problem) {
        corners += outline.corners
        guard corners <= RegionOutline.mostCorners else { throw Self.tooManyCorners }
        outlines.append(outline)
    }

    mutating func take(_ other: PictureSize, number: Int) throws(Problem) {
        let known = size ?? other
        guard known == other else {
            throw Problem(
                reason:
                    "has a mask in annotation \(number) of this picture of \(other.width) × \(other.height) pixels, and says that "
                    + "the picture has \(known.width) × \(known.height)",
                remedy: "export the file again")
        }
        size = known
    }

    /// The box around some corners.
    static func box(of rings: [[Double]]) -> (width: Double, height: Double) {
        var (left, top, right, bottom) = (Double.infinity, Double.infinity, -Double.infinity, -Double.infinity)
        for ring in rings {
            for index in stride(from: 0, to: ring.count - 1, by: 2) {
                (left, right) = (min(left, ring[index]), max(right, ring[index]))
                (top, bottom) = (min(top, ring[index + 1]), max(bottom, ring[index + 1]))
            }
        }
        return left <= right ? (right - left, bottom - top) : (0, 0)
    }

    /// Whether a polygon is larger than a pixel, and not a mere line.
    static func hasArea(_ ring: [Double]) -> Bool {
        guard ring.count >= 6 else { return false }
        let box = box(of: [ring])
        guard max(box.width, box.height) > 1, min(box.width, box.height) > 0 else { return false }
        // The corner that is farthest from the first one. On a line, all others lie between the two.
        var offsets: [(x: Double, y: Double)] = []
        for index in stride(from: 0, to: ring.count, by: 2) {
            offsets.append((ring[index] - ring[0], ring[index + 1] - ring[1]))
        }
        var (far, square): ((x: Double, y: Double), Double) = ((0, 0), 0)
        for offset in offsets {
            let distance = offset.x * offset.x + offset.y * offset.y
            if distance > square { (far, square) = (offset, distance) }
        }
        for offset in offsets {
            let cross: Double = far.x * offset.y - far.y * offset.x
            if cross.magnitude > 1e-9 * square { return true }
        }
        return false
    }
}

extension JSONValue {
    /// The value of a key of an object. A key that is there twice has no value.
    fileprivate subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        let values = members.filter { $0.key == key }
        return values.count > 1 ? .null : values.first?.value
    }

    fileprivate var double: Double? {
        guard case .number(let text) = self, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    fileprivate var int: Int? { double.flatMap { Int(exactly: $0) } }

    /// A number or a text that identifies something.
    fileprivate var identity: String? {
        switch self {
        case .number(let text): int.map(String.init) ?? text
        case .text(let text): "\"\(text)\""
        case .null, .truth, .list, .object: nil
        }
    }
}
