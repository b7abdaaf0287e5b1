import LarderHTTP

// Reads lines outside contents: MIME headers, start lines, header fields, boundaries.
extension MultipartBatchReader {
  /// Returns the next line without its end; nil if it is incomplete.
  mutating func nextLine() throws(BatchError) -> ArraySlice<UInt8>? {
    guard let end = buffer[position...].firstIndex(of: 0x0A) else {
      let length = buffer.count - position
      // Text before a boundary is not kept; its first bytes show that it is not one.
      if state == .preamble || state == .betweenParts, length > longestBoundaryLine || passesOverLine {
        passesOverLine = true
        position = buffer.count
      } else if length > limits.headerBytes {
        throw error(.tooLarge(what: "bytes in a part's header", limit: limits.headerBytes))
      }
      guard isFinished, position < buffer.count else { return nil }
      defer { position = buffer.count }
      return buffer[position...]
    }
    let line = buffer[position..<end]
    position = end + 1
    if passesOverLine {
      passesOverLine = false
      return []
    }
    return line.last == 0x0D ? line.dropLast() : line
  }

  /// The longest line with one of our boundaries: two hyphens on either side, and room for white space.
  private var longestBoundaryLine: Int { (boundaries.map(\.count).max() ?? 0) + 80 }

  mutating func read(line: ArraySlice<UInt8>) throws(BatchError) {
    if let boundary = delimiter(line) {
      try cross(boundary)
      return
    }
    switch state {
    case .preamble, .betweenParts, .epilogue, .content: break
    case .partHeader:
      if line.isEmpty { try endPartHeader() } else { try read(field: line, isPart: true) }
    case .startLine:
      if line.isEmpty { return }
      guard let start = BatchMessage.start(line) else { throw malformed(line) }
      current.start = start
      state = .messageHeader
    case .messageHeader:
      if line.isEmpty { beginContent() } else { try read(field: line, isPart: false) }
    }
  }

  /// Returns which open multipart a line is a boundary of, and whether it is its last boundary; the innermost wins.
  func delimiter(_ line: ArraySlice<UInt8>) -> (level: Int, isLast: Bool)? {
    guard line.first == UInt8(ascii: "-"), line.dropFirst().first == UInt8(ascii: "-") else { return nil }
    var text = line.dropFirst(2)
    while let last = text.last, last == 0x20 || last == 0x09 || last == 0x0D { text.removeLast() }
    for level in boundaries.indices.reversed() {
      let boundary = boundaries[level]
      if text.elementsEqual(boundary) { return (level, false) }
      if text.count == boundary.count + 2, text.starts(with: boundary), text.suffix(2).elementsEqual("--".utf8) {
        return (level, true)
      }
    }
    return nil
  }

  /// Handles a boundary: ends all open parts inside it.
  mutating func cross(_ boundary: (level: Int, isLast: Bool)) throws(BatchError) {
    switch state {
    case .content: endMessage()
    case .messageHeader:
      beginContent()
      endMessage()
    case .partHeader, .startLine: throw error(.truncated)
    case .preamble, .betweenParts, .epilogue: break
    }
    if boundary.level == 0, boundaries.count > 1 { events.append(.changeSetEnded) }
    boundaries.removeLast(boundaries.count - 1 - boundary.level)
    if boundary.isLast {
      if boundary.level > 0 {
        events.append(.changeSetEnded)
        boundaries.removeLast()
      }
      state = boundary.level == 0 ? .epilogue : .betweenParts
      isClosed = boundary.level == 0
      return
    }
    if boundary.level == 0 { partNumber += 1 } else { memberNumber += 1 }
    messages += 1
    guard messages <= limits.parts else { throw error(.tooLarge(what: "parts", limit: limits.parts)) }
    current = Current()
    state = .partHeader
  }

  private mutating func read(field line: ArraySlice<UInt8>, isPart: Bool) throws(BatchError) {
    current.headerBytes += line.count + 2
    guard current.headerBytes <= limits.headerBytes else {
      throw error(.tooLarge(what: "bytes in a part's header", limit: limits.headerBytes))
    }
    // A line that begins with white space continues the one before it (RFC 9112 §5.2).
    if line.first == 0x20 || line.first == 0x09 {
      let more = " " + MultipartLine.text(line)
      let last = (isPart ? current.partFields : current.fields).count - 1
      guard last >= 0 else { throw malformed(line) }
      if isPart { current.partFields[last].value += more } else { current.fields[last].value += more }
      return
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw malformed(line) }
    let name = HTTPFieldName(MultipartLine.text(line[..<colon]))
    guard name.isValid else { throw malformed(line) }
    let field = HTTPField(name: name, value: MultipartLine.text(line[(colon + 1)...]))
    if isPart { current.partFields.append(field) } else { current.fields.append(field) }
  }

  private mutating func endPartHeader() throws(BatchError) {
    let text = current.partFields.first { $0.name == .contentType }?.value ?? "application/http"
    let type = MediaType(text)
    guard type.isMultipart else {
      guard type.mediaType == "application/http" else { throw error(.unexpectedPart(contentType: type.mediaType)) }
      state = .startLine
      return
    }
    guard boundaries.count < limits.depth else {
      throw error(.tooLarge(what: "nested multiparts", limit: limits.depth))
    }
    let boundary = type["boundary"] ?? ""
    guard MediaType.isReadableBoundary(boundary) else { throw error(.badBoundary(boundary)) }
    boundaries.append(Array(boundary.utf8))
    memberNumber = 0
    events.append(.changeSetBegan)
    state = .preamble
  }

  private func malformed(_ line: ArraySlice<UInt8>) -> BatchError {
    error(.malformedLine(String(decoding: line.prefix(60), as: UTF8.self)))
  }
}

// Reads contents: bytes up to the line end before a boundary.
extension MultipartBatchReader {
  mutating func beginContent() {
    guard let start = current.start else { return }
    let id = (current.partFields + current.fields).first { $0.name == .contentID }?.value
    let message = BatchMessage(start: start, id: id, fields: HTTPFields(current.fields))
    current.declared = message.contentLength
    events.append(.message(message))
    state = .content
    isAtLineStart = true
    heldLineEnd = []
  }

  mutating func endMessage() {
    // If the length was too short, the line ends after it are content too.
    if let declared = current.declared, current.given > declared { current.pending.append(contentsOf: current.excess) }
    flushContent()
    events.append(.messageEnded)
    current.excess = []
    heldLineEnd = []
  }

  mutating func flushContent() {
    guard !current.pending.isEmpty else { return }
    events.append(.content(current.pending))
    current.pending = []
  }

  /// Reads one line, or the available part of it; false if more bytes are needed.
  mutating func contentStep() throws(BatchError) -> Bool {
    if isAtLineStart {
      guard position < buffer.count else { return false }
      if buffer[position] == UInt8(ascii: "-") {
        guard let line = boundaryCandidate() else { return false }
        if let boundary = delimiter(line) {
          position = min(buffer.count, line.endIndex + 1)
          try cross(boundary)
          return true
        }
      }
      give(heldLineEnd[...])
      heldLineEnd = []
      isAtLineStart = false
    }
    guard let end = buffer[position...].firstIndex(of: 0x0A) else {
      let endsWithReturn = buffer.last == 0x0D && !isFinished
      let upTo = max(position, buffer.count - (endsWithReturn ? 1 : 0))
      give(buffer[position..<upTo])
      position = upTo
      return false
    }
    let hasReturn = end > position && buffer[end - 1] == 0x0D
    give(buffer[position..<end - (hasReturn ? 1 : 0)])
    heldLineEnd = hasReturn ? [0x0D, 0x0A] : [0x0A]
    position = end + 1
    isAtLineStart = true
    return true
  }

  /// Returns the next line if it is complete, or its beginning if it is longer than a boundary; nil if more bytes are
  /// needed.
  private func boundaryCandidate() -> ArraySlice<UInt8>? {
    let longest = longestBoundaryLine
    let start = buffer[position...].prefix(longest)
    if let end = start.firstIndex(of: 0x0A) { return buffer[position..<end] }
    return start.count == longest || isFinished ? start : nil
  }

  /// Adds content. Line ends after the declared length are held back, because some servers add them.
  mutating func give(_ bytes: ArraySlice<UInt8>) {
    var bytes = bytes
    if let declared = current.declared {
      let inside = bytes.prefix(max(0, declared - current.given))
      current.pending.append(contentsOf: inside)
      current.given += inside.count
      bytes = bytes.dropFirst(inside.count)
      if bytes.count + current.excess.count < 1024, bytes.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
        current.excess.append(contentsOf: bytes)
        return
      }
      // The length is wrong: the held-back line ends are content.
      current.pending.append(contentsOf: current.excess)
      current.given += current.excess.count
      current.excess = []
    }
    current.pending.append(contentsOf: bytes)
    current.given += bytes.count
  }
}
