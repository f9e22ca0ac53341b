"""The command line: each verb makes a result, and `rerail.cli.output` is how results leave."""
