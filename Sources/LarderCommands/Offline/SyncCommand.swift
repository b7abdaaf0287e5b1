internal import LarderOffline

/// Runs one `larder sync`: an upload, then a download.
enum SyncCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let options = try UploadCommand.options(arguments)
    return try await OfflineAccess.with(arguments, context) { access in
      let upload = UploadReport(context)
      let download = DownloadReport(arguments, context)
      do {
        try await upload.run(access.provider, options)
      } catch {
        try json(upload: upload, download: download, endingWith: error, arguments, context)
        throw await UploadCommand.interruptedFailure(error, report: upload, access, options)
      }
      if !arguments.has(.json) { try await upload.print(access.provider, in: access.folder) }
      do {
        try await DownloadCommand.checkQueries(access.provider, access.folder)
        try await download.follow(access.provider) { try await access.provider.download() }
      } catch {
        try json(upload: upload, download: download, endingWith: error, arguments, context)
        if !arguments.has(.json) { try download.print(endingWith: error) }
        if Task.isCancelled { throw CloneCommand.interruptedFailure(access.folder) }
        throw download.failure(error, in: access.folder)
      }
      try json(upload: upload, download: download, endingWith: nil, arguments, context)
      if arguments.has(.json) { download.warn() } else { try download.print() }
      return upload.status.code > download.status.code ? upload.status : download.status
    }
  }

  private static func json(
    upload: UploadReport, download: DownloadReport, endingWith error: (any Error)?, _ arguments: ParsedArguments,
    _ context: CommandContext
  ) throws {
    guard arguments.has(.json) else { return }
    var json = JSONOutput(context.output)
    json.beginObject()
    json.name("upload")
    upload.write(to: &json)
    json.name("download")
    try download.write(to: &json)
    json.member("error", error.map { CommandFailure($0).message })
    json.endObject()
    try json.endLine()
  }
}
