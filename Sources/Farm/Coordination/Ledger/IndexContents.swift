import FoundationEssentials
import JobModel

/// What a `.penumbra-index` says of one job.
struct IndexContents {
    /// By path below the index's folder; what came later counts.
    private(set) var outputs: [PathKey: IndexLine.Output] = [:]
    /// The texts of the outputs' recipes, which their numbers are places in.
    private(set) var recipes: [String] = []
    /// What the outputs' numbers of encodings are places in.
    private(set) var encodings: [OutputEncoding] = []
    /// The jobs that published the outputs.
    private(set) var jobs: [PathKey: Publisher] = [:]
    /// Lines that belong to other jobs, as they are.
    private(set) var others: [Data] = []

    private var places: [String: Int] = [:]
    private var encodingPlaces: [OutputEncoding: Int] = [:]
    /// Places by the file's numbers.
    private var numbers: [Int: Int] = [:]
    private var encodingNumbers: [Int: Int] = [:]
    private var isOurs = false
    private var job = Publisher(name: "", manifest: "")

    /// A job as an index names it.
    struct Publisher: Hashable {
        let name: String
        let manifest: String
    }

    /// Lines that cannot be read are left out: a run that was killed may have torn the last one.
    ///
    /// - Parameter job: nil for all jobs.
    init(_ data: Data, of job: JobSpec?) {
        let decoder = JSONDecoder()
        for line in data.split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? decoder.decode(IndexLine.self, from: line) else {
                // Perhaps a newer version's.
                if !isOurs { others.append(Data(line)) }
                continue
            }
            if case .job(let name, let manifest) = entry {
                self.job = Publisher(name: name, manifest: manifest)
                isOurs = job.map { name == $0.name && PathKey(manifest) == PathKey($0.manifestPath) } ?? true
                (numbers, encodingNumbers) = ([:], [:])
            }
            if isOurs { add(entry) } else { others.append(Data(line)) }
        }
    }

    private mutating func add(_ line: IndexLine) {
        switch line {
        case .job: break
        case .recipe(let number, let text): numbers[number] = place(of: text)
        case .encoding(let number, let encoding): encodingNumbers[number] = place(of: encoding)
        case .output(let output):
            guard output.isPlausible, let place = numbers[output.recipe] else { return }
            let encoding = output.encoding.flatMap { encodingNumbers[$0] }
            outputs[PathKey(output.path)] = output.with(recipe: place, encoding: encoding)
            jobs[PathKey(output.path)] = job
        case .gone(let path):
            // It may be another job's by now.
            if jobs[PathKey(path)] == job { outputs[PathKey(path)] = nil }
        }
    }

    private mutating func place(of text: String) -> Int {
        if let place = places[text] { return place }
        recipes.append(text)
        places[text] = recipes.count - 1
        return recipes.count - 1
    }

    private mutating func place(of encoding: OutputEncoding) -> Int {
        if let place = encodingPlaces[encoding] { return place }
        encodings.append(encoding)
        encodingPlaces[encoding] = encodings.count - 1
        return encodings.count - 1
    }
}

extension IndexLine.Output {
    /// The index lies where others may write. Its paths lead to files below its folder, and its numbers are those of files
    /// and pictures, or the line is left out.
    fileprivate var isPlausible: Bool {
        let parts = path.utf8.split(separator: PathNames.slash, omittingEmptySubsequences: false)
        let isBelow = parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
        let pixels = 0...Int(UInt32.max)
        return isBelow && !path.utf8.contains(0) && PathNames.isAbsolute(input)
            && OutputIndex.sizes.contains(source.size)
            && OutputIndex.sizes.contains(file.size)
            && pixels.contains(page) && pixels.contains(part) && pixels.contains(width) && pixels.contains(height)
    }

    fileprivate func with(recipe: Int, encoding: Int?) -> IndexLine.Output {
        IndexLine.Output(
            path: path, input: input, page: page, part: part, source: source, recipe: recipe, file: file,
            width: width, height: height, adopted: adopted, pixels: pixels, encoding: encoding)
    }
}
