internal import Campaign

/// Opening and reading recipients, with their errors as a check's.
enum Recipients {
    static func open(_ source: String) throws(CheckError) -> RecipientReader {
        do throws(RecipientsError) {
            return try RecipientReader(path: source, format: RecipientFormat(fileName: source))
        } catch {
            throw failure(error)
        }
    }

    /// Binds the campaign's columns to the header.
    static func rowReader(
        _ campaign: Campaign, _ reader: RecipientReader
    ) throws(CheckError) -> RowReader {
        do throws(CampaignError) {
            return try RowReader(campaign: campaign, format: reader.format, header: reader.header)
        } catch {
            throw CheckError(.refused, error.description)
        }
    }

    static func failure(_ error: RecipientsError) -> CheckError {
        guard error.kind != .refused else { return CheckError(.refused, error.description) }
        return CheckError(
            .stopped,
            "\(error.file): \(error.message); check the disk or the program that writes the rows, "
                + "then check the campaign again")
    }
}
