#if !arch(x86_64)
    import RowKernelsNative

    /// The inner loops where there is one level: under the name of the first of those that x86-64 has.
    enum RowKernelsV2 {
        static let halveBytes = RowKernelsNative.halveBytes
        static let halveWords = RowKernelsNative.halveWords
        static let doubleWords = RowKernelsNative.doubleWords
        static let doubleWordsToBytes = RowKernelsNative.doubleWordsToBytes
        static let filterWordRows = RowKernelsNative.filterWordRows
        static let filterBytePair = RowKernelsNative.filterBytePair
        static let filterWordRow = RowKernelsNative.filterWordRow
        static let filterSparse = RowKernelsNative.filterSparse
        static let averageSparse = RowKernelsNative.averageSparse
        static let slideSums = RowKernelsNative.slideSums
        static let addToSums = RowKernelsNative.addToSums
        static let sumWindows = RowKernelsNative.sumWindows
        static let weighSums = RowKernelsNative.weighSums
        static let roundWords = RowKernelsNative.roundWords
        static let loadBytePlane = RowKernelsNative.loadBytePlane
        static let loadWordPlane = RowKernelsNative.loadWordPlane
        static let loadFloatPlane = RowKernelsNative.loadFloatPlane
        static let lookUpBytePlane = RowKernelsNative.lookUpBytePlane
        static let lookUpWordPlane = RowKernelsNative.lookUpWordPlane
        static let storeBytePlane = RowKernelsNative.storeBytePlane
        static let storeWordPlane = RowKernelsNative.storeWordPlane
        static let storeFloatPlane = RowKernelsNative.storeFloatPlane
        static let roundPlane = RowKernelsNative.roundPlane
        static let lookUpBytes = RowKernelsNative.lookUpBytes
        static let premultiply = RowKernelsNative.premultiply
        static let unpremultiply = RowKernelsNative.unpremultiply
        static let isOpaque = RowKernelsNative.isOpaque
        static let storeRow = RowKernelsNative.storeRow
        static let endStreaming = RowKernelsNative.endStreaming
        static let widenBytes = RowKernelsNative.widenBytes
        static let sumFloatPairs = RowKernelsNative.sumFloatPairs
        static let sumFloatRows = RowKernelsNative.sumFloatRows
        static let splitFloats = RowKernelsNative.splitFloats
        static let zipFloats = RowKernelsNative.zipFloats
        static let resampleRow = RowKernelsNative.resampleRow
        static let addFloats = RowKernelsNative.addFloats
        static let scaleFloats = RowKernelsNative.scaleFloats
        static let bilateralRow = RowKernelsNative.bilateralRow
        static let zoomDirectly = RowKernelsNative.zoomDirectly
        static let spinDirectly = RowKernelsNative.spinDirectly
        static let sampleRing = RowKernelsNative.sampleRing
        static let sumRing = RowKernelsNative.sumRing
        static let sampleRay = RowKernelsNative.sampleRay
        static let sumBlocks = RowKernelsNative.sumBlocks
        static let slideMeans = RowKernelsNative.slideMeans
        static let zoomMeans = RowKernelsNative.zoomMeans
        static let interpolateLines = RowKernelsNative.interpolateLines
        static let interpolateRings = RowKernelsNative.interpolateRings
        static let packWords = RowKernelsNative.packWords
        static let scatterWords = RowKernelsNative.scatterWords
        static let placeInRings = RowKernelsNative.placeInRings
        static let lookUpWeights = RowKernelsNative.lookUpWeights
        static let addWeighted = RowKernelsNative.addWeighted
        static let slideByteColumns = RowKernelsNative.slideByteColumns
        static let slideWordColumns = RowKernelsNative.slideWordColumns
        static let slideShortColumns = RowKernelsNative.slideShortColumns
        static let slideSampleColumns = RowKernelsNative.slideSampleColumns
        static let averageAlong = RowKernelsNative.averageAlong
        static let averageWideAlong = RowKernelsNative.averageWideAlong
        static let slideByteDiscs = RowKernelsNative.slideByteDiscs
        static let slideWordDiscs = RowKernelsNative.slideWordDiscs
        static let weighByteDiscs = RowKernelsNative.weighByteDiscs
        static let weighWordDiscs = RowKernelsNative.weighWordDiscs
        static let medianOfBytes = RowKernelsNative.medianOfBytes
        static let medianOfWords = RowKernelsNative.medianOfWords
        static let medianOfRanks = RowKernelsNative.medianOfRanks
        static let addToHistograms = RowKernelsNative.addToHistograms
        static let slideHistograms = RowKernelsNative.slideHistograms
        static let medianOfHistograms = RowKernelsNative.medianOfHistograms
        static let rankFloats = RowKernelsNative.rankFloats
        static let unrankFloats = RowKernelsNative.unrankFloats
        static let sortEntries = RowKernelsNative.sortEntries
        static let medianOfPlaces = RowKernelsNative.medianOfPlaces
        static let sharpenWords = RowKernelsNative.sharpenWords
        static let sharpenFloats = RowKernelsNative.sharpenFloats
        static let sharpenColorFloats = RowKernelsNative.sharpenColorFloats
        static let sharpenPixels = RowKernelsNative.sharpenPixels
    }

    typealias RowKernelsV3 = RowKernelsV2
    typealias RowKernelsV4 = RowKernelsV2
#endif
