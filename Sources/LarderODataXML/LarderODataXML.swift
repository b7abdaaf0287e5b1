// XML for OData, on libxml2's SAX parser: the only target that imports CLarderXML2. No tree is ever built.
//
// The stages of reading a document:
// 1. XML/   turns bytes into events: ``XMLPushParser`` limits length and depth and rejects document types.
// 2. CSDL/  turns the events of a `$metadata` document into an `EdmModel`: ``CSDLReader``, one grammar file for each
//    family of elements.
// 3. Atom/  turns the events of feeds, entries, values, errors and service documents into the payload values of
//    `LarderOData`.
//
// CSDL JSON needs no XML and is read in `LarderOData`; the entry point below accepts both.

public import LarderOData

extension EdmModel {
  /// Reads a `$metadata` document. Its first character decides between CSDL XML (V1 to 4.01) and CSDL JSON (4.01).
  public static func read(
    _ bytes: [UInt8], limits: MetadataLimits = MetadataLimits()
  ) throws(MetadataError) -> EdmModel {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let first = bytes[start...].first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return try CSDLJSONReader.read(bytes, limits: limits)
    }
    let reader = CSDLReader(limits: limits)
    try reader.push(bytes)
    return try reader.finish()
  }
}
