module go-oracle

go 1.22
