/// The media type of a file, from its name's extension.
enum FileMediaType {
  static func mediaType(of file: String) -> String {
    let fileExtension = file.split(separator: "/").last.flatMap {
      $0.lastIndex(of: ".").map { file[$0...].dropFirst() }
    }
    switch fileExtension?.lowercased() {
    case "png"?: return "image/png"
    case "jpg"?, "jpeg"?: return "image/jpeg"
    case "gif"?: return "image/gif"
    case "svg"?: return "image/svg+xml"
    case "webp"?: return "image/webp"
    case "pdf"?: return "application/pdf"
    case "txt"?, "log"?: return "text/plain"
    case "html"?, "htm"?: return "text/html"
    case "csv"?: return "text/csv"
    case "xml"?: return "application/xml"
    case "json"?: return "application/json"
    case "zip"?: return "application/zip"
    case "mp4"?: return "video/mp4"
    case "mp3"?: return "audio/mpeg"
    default: return "application/octet-stream"
    }
  }
}
