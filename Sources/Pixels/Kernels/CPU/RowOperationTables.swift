#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

// One table for each level; the functions' names are the same in every module.

#if arch(x86_64)
    extension RowOperations {
        static let v2 = RowOperations(
            halveBytes: RowKernelsV2.halveBytes,
            halveWords: RowKernelsV2.halveWords,
            doubleWords: RowKernelsV2.doubleWords,
            doubleWordsToBytes: RowKernelsV2.doubleWordsToBytes,
            filterWordRows: RowKernelsV2.filterWordRows,
            filterBytePair: RowKernelsV2.filterBytePair,
            filterWordRow: RowKernelsV2.filterWordRow,
            filterSparse: RowKernelsV2.filterSparse,
            averageSparse: RowKernelsV2.averageSparse,
            slideSums: RowKernelsV2.slideSums,
            addToSums: RowKernelsV2.addToSums,
            sumWindows: RowKernelsV2.sumWindows,
            weighSums: RowKernelsV2.weighSums,
            roundWords: RowKernelsV2.roundWords,
            loadBytePlane: RowKernelsV2.loadBytePlane,
            loadWordPlane: RowKernelsV2.loadWordPlane,
            loadFloatPlane: RowKernelsV2.loadFloatPlane,
            lookUpBytePlane: RowKernelsV2.lookUpBytePlane,
            lookUpWordPlane: RowKernelsV2.lookUpWordPlane,
            storeBytePlane: RowKernelsV2.storeBytePlane,
            storeWordPlane: RowKernelsV2.storeWordPlane,
            storeFloatPlane: RowKernelsV2.storeFloatPlane,
            roundPlane: RowKernelsV2.roundPlane,
            lookUpBytes: RowKernelsV2.lookUpBytes,
            premultiply: RowKernelsV2.premultiply,
            unpremultiply: RowKernelsV2.unpremultiply,
            isOpaque: RowKernelsV2.isOpaque,
            storeRow: RowKernelsV2.storeRow,
            endStreaming: RowKernelsV2.endStreaming,
            widenBytes: RowKernelsV2.widenBytes,
            sumFloatPairs: RowKernelsV2.sumFloatPairs,
            sumFloatRows: RowKernelsV2.sumFloatRows,
            splitFloats: RowKernelsV2.splitFloats,
            zipFloats: RowKernelsV2.zipFloats,
            addFloats: RowKernelsV2.addFloats)
    }

    extension RowOperations {
        static let v3 = RowOperations(
            halveBytes: RowKernelsV3.halveBytes,
            halveWords: RowKernelsV3.halveWords,
            doubleWords: RowKernelsV3.doubleWords,
            doubleWordsToBytes: RowKernelsV3.doubleWordsToBytes,
            filterWordRows: RowKernelsV3.filterWordRows,
            filterBytePair: RowKernelsV3.filterBytePair,
            filterWordRow: RowKernelsV3.filterWordRow,
            filterSparse: RowKernelsV3.filterSparse,
            averageSparse: RowKernelsV3.averageSparse,
            slideSums: RowKernelsV3.slideSums,
            addToSums: RowKernelsV3.addToSums,
            sumWindows: RowKernelsV3.sumWindows,
            weighSums: RowKernelsV3.weighSums,
            roundWords: RowKernelsV3.roundWords,
            loadBytePlane: RowKernelsV3.loadBytePlane,
            loadWordPlane: RowKernelsV3.loadWordPlane,
            loadFloatPlane: RowKernelsV3.loadFloatPlane,
            lookUpBytePlane: RowKernelsV3.lookUpBytePlane,
            lookUpWordPlane: RowKernelsV3.lookUpWordPlane,
            storeBytePlane: RowKernelsV3.storeBytePlane,
            storeWordPlane: RowKernelsV3.storeWordPlane,
            storeFloatPlane: RowKernelsV3.storeFloatPlane,
            roundPlane: RowKernelsV3.roundPlane,
            lookUpBytes: RowKernelsV3.lookUpBytes,
            premultiply: RowKernelsV3.premultiply,
            unpremultiply: RowKernelsV3.unpremultiply,
            isOpaque: RowKernelsV3.isOpaque,
            storeRow: RowKernelsV3.storeRow,
            endStreaming: RowKernelsV3.endStreaming,
            widenBytes: RowKernelsV3.widenBytes,
            sumFloatPairs: RowKernelsV3.sumFloatPairs,
            sumFloatRows: RowKernelsV3.sumFloatRows,
            splitFloats: RowKernelsV3.splitFloats,
            zipFloats: RowKernelsV3.zipFloats,
            addFloats: RowKernelsV3.addFloats)
    }

    extension RowOperations {
        static let v4 = RowOperations(
            halveBytes: RowKernelsV4.halveBytes,
            halveWords: RowKernelsV4.halveWords,
            doubleWords: RowKernelsV4.doubleWords,
            doubleWordsToBytes: RowKernelsV4.doubleWordsToBytes,
            filterWordRows: RowKernelsV4.filterWordRows,
            filterBytePair: RowKernelsV4.filterBytePair,
            filterWordRow: RowKernelsV4.filterWordRow,
            filterSparse: RowKernelsV4.filterSparse,
            averageSparse: RowKernelsV4.averageSparse,
            slideSums: RowKernelsV4.slideSums,
            addToSums: RowKernelsV4.addToSums,
            sumWindows: RowKernelsV4.sumWindows,
            weighSums: RowKernelsV4.weighSums,
            roundWords: RowKernelsV4.roundWords,
            loadBytePlane: RowKernelsV4.loadBytePlane,
            loadWordPlane: RowKernelsV4.loadWordPlane,
            loadFloatPlane: RowKernelsV4.loadFloatPlane,
            lookUpBytePlane: RowKernelsV4.lookUpBytePlane,
            lookUpWordPlane: RowKernelsV4.lookUpWordPlane,
            storeBytePlane: RowKernelsV4.storeBytePlane,
            storeWordPlane: RowKernelsV4.storeWordPlane,
            storeFloatPlane: RowKernelsV4.storeFloatPlane,
            roundPlane: RowKernelsV4.roundPlane,
            lookUpBytes: RowKernelsV4.lookUpBytes,
            premultiply: RowKernelsV4.premultiply,
            unpremultiply: RowKernelsV4.unpremultiply,
            isOpaque: RowKernelsV4.isOpaque,
            storeRow: RowKernelsV4.storeRow,
            endStreaming: RowKernelsV4.endStreaming,
            widenBytes: RowKernelsV4.widenBytes,
            sumFloatPairs: RowKernelsV4.sumFloatPairs,
            sumFloatRows: RowKernelsV4.sumFloatRows,
            splitFloats: RowKernelsV4.splitFloats,
            zipFloats: RowKernelsV4.zipFloats,
            addFloats: RowKernelsV4.addFloats)
    }

#else
    extension RowOperations {
        static let native = RowOperations(
            halveBytes: RowKernelsNative.halveBytes,
            halveWords: RowKernelsNative.halveWords,
            doubleWords: RowKernelsNative.doubleWords,
            doubleWordsToBytes: RowKernelsNative.doubleWordsToBytes,
            filterWordRows: RowKernelsNative.filterWordRows,
            filterBytePair: RowKernelsNative.filterBytePair,
            filterWordRow: RowKernelsNative.filterWordRow,
            filterSparse: RowKernelsNative.filterSparse,
            averageSparse: RowKernelsNative.averageSparse,
            slideSums: RowKernelsNative.slideSums,
            addToSums: RowKernelsNative.addToSums,
            sumWindows: RowKernelsNative.sumWindows,
            weighSums: RowKernelsNative.weighSums,
            roundWords: RowKernelsNative.roundWords,
            loadBytePlane: RowKernelsNative.loadBytePlane,
            loadWordPlane: RowKernelsNative.loadWordPlane,
            loadFloatPlane: RowKernelsNative.loadFloatPlane,
            lookUpBytePlane: RowKernelsNative.lookUpBytePlane,
            lookUpWordPlane: RowKernelsNative.lookUpWordPlane,
            storeBytePlane: RowKernelsNative.storeBytePlane,
            storeWordPlane: RowKernelsNative.storeWordPlane,
            storeFloatPlane: RowKernelsNative.storeFloatPlane,
            roundPlane: RowKernelsNative.roundPlane,
            lookUpBytes: RowKernelsNative.lookUpBytes,
            premultiply: RowKernelsNative.premultiply,
            unpremultiply: RowKernelsNative.unpremultiply,
            isOpaque: RowKernelsNative.isOpaque,
            storeRow: RowKernelsNative.storeRow,
            endStreaming: RowKernelsNative.endStreaming,
            widenBytes: RowKernelsNative.widenBytes,
            sumFloatPairs: RowKernelsNative.sumFloatPairs,
            sumFloatRows: RowKernelsNative.sumFloatRows,
            splitFloats: RowKernelsNative.splitFloats,
            zipFloats: RowKernelsNative.zipFloats,
            addFloats: RowKernelsNative.addFloats)
    }

#endif
