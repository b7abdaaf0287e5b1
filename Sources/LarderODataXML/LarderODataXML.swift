// XML for OData, on libxml2's SAX parser: the only importer of CLarderXML2. No tree is ever built.
//
// Where things happen, in the order of a document's way:
// 1. XML/   bytes become events: ``XMLPushParser`` bounds length and depth and refuses document types.
// 2. CSDL/  events of a `$metadata` document become an `EdmModel`: ``CSDLReader``, one grammar file a family of elements.
// 3. Atom/  events of feeds, entries, values, errors and service documents become the payload values of `OData`.
//
// CSDL JSON needs no XML and is read in `OData`; the entry point below takes both.

public import LarderOData

extension EdmModel {
  /// Reads a `$metadata` document, CSDL XML (V1 to 4.01) or CSDL JSON (4.01), by its first character.
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
